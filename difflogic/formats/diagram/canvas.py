"""A circuit's picture in coordinates: places of nodes and wires, in pixels, y downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from difflogic.formats.diagram.graph import Drawing, Node
from difflogic.formats.diagram.placement import Layering, arrange, place

GATE_WIDTH = 34.0
GATE_HEIGHT = 26.0
NAMED_HEIGHT = 21.0
"""Height of inputs and next states: there may be hundreds in a column."""
PASS_HEIGHT = 4.0
GAP = 8.0
CHARACTER = 8.2
"""A little more than the width of a label's character."""
CIRCLE_RADIUS = 3.6
PORT = 6.0
"""Vertical distance of a gate's two inputs from its middle."""
LEAST_COLUMN_GAP = 46.0
MOST_COLUMN_GAP = 400.0
STEEPNESS = 0.22
"""Distance of two columns, as a share of the height of the steepest wire between them."""


@dataclass(frozen=True)
class Canvas:
    """Places of all points: `x` and `y` are their centres."""

    diagram: Drawing
    layering: Layering
    x: Sequence[float]
    y: Sequence[float]
    widths: Sequence[float]
    width: float
    height: float

    def segments(self) -> dict[int, list[Segment]]:
        """Return the pieces of wire of each node, by node number, ascending."""
        ends = self._ends()
        points = self.layering.points
        nodes = self.diagram.nodes
        found: dict[int, list[Segment]] = {}
        for number, point in enumerate(points):
            segments = found.setdefault(point.source, [])
            y = self.y[number]
            start = self.x[number] + self.widths[number] / 2
            if point.passes:
                segments.append(Segment(start - self.widths[number], y, start, y))
            elif nodes[point.source].inverted:
                start += 2 * CIRCLE_RADIUS
            for other in self.layering.after[number]:
                if points[other].passes:
                    edge = self.x[other] - self.widths[other] / 2
                    stops = [(edge, self.y[other], False)]
                else:
                    stops = ends[point.source, other]
                for x, end, inverted in stops:
                    segments.append(
                        Segment(start, y, x - 2 * CIRCLE_RADIUS if inverted else x, end)
                    )
        return dict(sorted((source, parts) for source, parts in found.items() if parts))

    def circles(self) -> list[tuple[float, float]]:
        """Return the centres of the circles at inverted inputs."""
        stops = (stop for stops in self._ends().values() for stop in stops)
        return [(x - CIRCLE_RADIUS, y) for x, y, inverted in stops if inverted]

    def _ends(self) -> dict[tuple[int, int], list[tuple[float, float, bool]]]:
        """Return the ends (x, y, inverted) of the wires from one node to another.

        A gate's two wires end in the order in which they arrive, from top to bottom.
        """
        coming: dict[int, list[tuple[float, int, int, bool]]] = {}
        for index, wire in enumerate(self.diagram.wires):
            last = next(
                p
                for p in self.layering.before[wire.target]
                if self.layering.points[p].source == wire.source
            )
            entry = (self.y[last], index, wire.source, wire.inverted)
            coming.setdefault(wire.target, []).append(entry)
        ends: dict[tuple[int, int], list[tuple[float, float, bool]]] = {}
        for target, entries in coming.items():
            x = self.x[target] - self.widths[target] / 2
            for port, (_, _, source, inverted) in enumerate(sorted(entries)):
                shift = PORT * (2 * port - len(entries) + 1)
                end = (x, self.y[target] + shift, inverted)
                ends.setdefault((source, target), []).append(end)
        return ends


@dataclass(frozen=True)
class Segment:
    """A piece of wire, from left to right: straight if level, else an S."""

    x0: float
    y0: float
    x1: float
    y1: float


def lay_out(drawn: Drawing) -> Canvas:
    """Place nodes in columns, inputs first and outputs last."""
    layering = arrange(drawn)
    heights = [
        PASS_HEIGHT if point.passes else node_height(drawn.nodes[point.source])
        for point in layering.points
    ]
    y = place(layering, heights, GAP)
    widths = [
        0.0 if point.passes else _node_width(drawn.nodes[point.source]) for point in layering.points
    ]
    x = [0.0] * len(layering.points)
    left = 0.0
    for number, layer in enumerate(layering.layers):
        column = max((widths[point] for point in layer), default=0.0)
        for point in layer:
            x[point] = left + column / 2
            if layering.points[point].passes:
                widths[point] = column  # straight across the column, between nodes
        spans = [abs(y[point] - y[other]) for point in layer for other in layering.after[point]]
        room = min(max(LEAST_COLUMN_GAP, STEEPNESS * max(spans, default=0.0)), MOST_COLUMN_GAP)
        last = number == len(layering.layers) - 1
        left += column + (0.0 if last else room)
    height = max(y[point] + heights[point] / 2 for point in range(len(y)))
    return Canvas(drawn, layering, x, y, widths, left, height)


def _node_width(node: Node) -> float:
    if node.kind.is_named:
        return max(GATE_WIDTH, CHARACTER * len(node.label) + 12)
    return GATE_WIDTH


def node_height(node: Node) -> float:
    return NAMED_HEIGHT if node.kind.is_named else GATE_HEIGHT
