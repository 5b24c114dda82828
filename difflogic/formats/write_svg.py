"""A circuit as a picture: SVG, laid out without other programs. Inputs left, next states right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from difflogic.formats.diagram.graph import Diagram, Node, diagram
from difflogic.formats.diagram.layers import Layering, arrange
from difflogic.formats.diagram.placement import place
from difflogic.formats.diagram.sidebar import WIDTH as SIDEBAR_WIDTH
from difflogic.formats.diagram.sidebar import Sidebar
from difflogic.logic.automaton import Automaton

MARGIN = 16
GATE_WIDTH, GATE_HEIGHT = 34.0, 26.0
NAMED_HEIGHT = 21.0
"""Of inputs and next states, of which there may be hundreds above each other."""
PASS_HEIGHT = 4.0
GAP = 8.0
CHARACTER = 8.2
"""Width of one of the labels' characters, and a little more."""
CIRCLE = 3.6
PORT = 6.0
"""Distance of a gate's two ends of wires from its middle."""
LEAST_COLUMN_GAP, MOST_COLUMN_GAP = 46.0, 400.0
STEEPNESS = 0.22
"""Room between two columns, as a share of the height of the wires between them."""

STYLE = """
text{font-family:"DejaVu Sans","Segoe UI",Arial,Helvetica,sans-serif;fill:#1a1a1a}
.label{font-size:13px;text-anchor:middle}
.sign{font-size:17px;text-anchor:middle}
.wire{fill:none;stroke:#8a8a8a;stroke-width:1.3}
.circle{fill:#fff;stroke:#1a1a1a;stroke-width:1.3}
.net:hover .wire{stroke:#000;stroke-width:2.4}
.box:hover rect{stroke-width:3}
"""


@dataclass(frozen=True)
class _Canvas:
    """Where everything stands. `x` and `y` are each point's centre, `widths` its width."""

    diagram: Diagram
    layering: Layering
    x: Sequence[float]
    y: Sequence[float]
    widths: Sequence[float]
    width: float
    height: float


def write_svg(automaton: Automaton) -> str:
    """Return an automaton's circuit as an SVG picture. Raises CircuitError if it is too large."""
    canvas = _lay_out(diagram(automaton))
    side = Sidebar(canvas.diagram, MARGIN, 0)
    left = MARGIN + SIDEBAR_WIDTH + MARGIN
    width = left + canvas.width + MARGIN
    height = max(canvas.height, side.height) + 2 * MARGIN
    top = MARGIN + max(0.0, (side.height - canvas.height) / 2)
    name = escape(automaton.name)
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}">',
        f"<title>Circuit of {name}</title>",
        f"<style>{escape(STYLE, quote=False)}</style>",
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>',
        *side.parts,
        f'<g transform="translate({_n(left)} {_n(top)})">',
        *_wires(canvas),
        *_nodes(canvas),
        "</g>",
        "</svg>",
        "",
    ])  # fmt: skip


def _n(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def _lay_out(drawn: Diagram) -> _Canvas:
    layering = arrange(drawn)
    heights = [
        PASS_HEIGHT if point.passes else _node_height(drawn.nodes[point.source])
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
                widths[point] = column  # straight on between the nodes, never across them
        spans = [abs(y[point] - y[other]) for point in layer for other in layering.after[point]]
        room = min(max(LEAST_COLUMN_GAP, STEEPNESS * max(spans, default=0.0)), MOST_COLUMN_GAP)
        last = number == len(layering.layers) - 1
        left += column + (0.0 if last else room)
    height = max(y[point] + heights[point] / 2 for point in range(len(y)))
    return _Canvas(drawn, layering, x, y, widths, left, height)


def _node_width(node: Node) -> float:
    if node.family.is_named:
        return max(GATE_WIDTH, CHARACTER * len(node.label) + 12)
    return GATE_WIDTH


def _node_height(node: Node) -> float:
    return NAMED_HEIGHT if node.family.is_named else GATE_HEIGHT


def _nodes(canvas: _Canvas) -> Iterator[str]:
    for number, node in enumerate(canvas.diagram.nodes):
        x, y, width = canvas.x[number], canvas.y[number], canvas.widths[number]
        named, height = node.family.is_named, _node_height(node)
        corner = 4 if named else 10
        label = escape(node.label)
        yield (
            f'<g class="box"><title>{escape(node.about)}</title>'
            f'<rect x="{_n(x - width / 2)}" y="{_n(y - height / 2)}" width="{_n(width)}" '
            f'height="{_n(height)}" rx="{_n(corner)}" fill="{node.family.fill}" '
            f'stroke="{node.family.stroke}" stroke-width="{3 if node.visible else 1.4}"/>'
            f'<text class="{"label" if named else "sign"}" x="{_n(x)}" '
            f'y="{_n(y + (4.6 if named else 6))}">{label}</text></g>'
        )
        if node.inverted:
            yield _circle(x + width / 2 + CIRCLE, y)


def _circle(x: float, y: float) -> str:
    return f'<circle class="circle" cx="{_n(x)}" cy="{_n(y)}" r="{CIRCLE}"/>'


def _wires(canvas: _Canvas) -> Iterator[str]:
    """Draw the wires of each node as one group, and the circles where they end inverted."""
    ends = _ends(canvas)
    layering, nodes = canvas.layering, canvas.diagram.nodes
    parts: dict[int, list[str]] = {}
    for number, point in enumerate(layering.points):
        start = canvas.x[number] + canvas.widths[number] / 2
        if point.passes:
            parts[point.source].append(_across(canvas, number))
        if not point.passes and nodes[point.source].inverted:
            start += 2 * CIRCLE
        for other in layering.after[number]:
            if layering.points[other].passes:
                edge = canvas.x[other] - canvas.widths[other] / 2
                stops = [(edge, canvas.y[other], False)]
            else:
                stops = ends[point.source, other]
            for x, y, inverted in stops:
                stop = x - 2 * CIRCLE if inverted else x
                parts.setdefault(point.source, []).append(_curve(start, canvas.y[number], stop, y))
    for source, curves in sorted(parts.items()):
        about = escape(nodes[source].about)
        yield f'<g class="net"><title>{about}</title><path class="wire" d="{"".join(curves)}"/></g>'
    for stops in ends.values():
        for x, y, inverted in stops:
            if inverted:
                yield _circle(x - CIRCLE, y)


def _across(canvas: _Canvas, number: int) -> str:
    left = canvas.x[number] - canvas.widths[number] / 2
    return f"M{_n(left)} {_n(canvas.y[number])}h{_n(canvas.widths[number])}"


def _ends(canvas: _Canvas) -> dict[tuple[int, int], list[tuple[float, float, bool]]]:
    """Return where the wires from each node to each node end: x, y, and whether inverted.

    The two wires of a gate end above each other in the order in which they come.
    """
    coming: dict[int, list[tuple[float, int, int, bool]]] = {}
    for index, wire in enumerate(canvas.diagram.wires):
        last = next(
            p for p in canvas.layering.before[wire.target]
            if canvas.layering.points[p].source == wire.source
        )  # fmt: skip
        entry = (canvas.y[last], index, wire.source, wire.inverted)
        coming.setdefault(wire.target, []).append(entry)
    ends: dict[tuple[int, int], list[tuple[float, float, bool]]] = {}
    for target, entries in coming.items():
        x = canvas.x[target] - canvas.widths[target] / 2
        for port, (_, _, source, inverted) in enumerate(sorted(entries)):
            shift = PORT * (2 * port - len(entries) + 1)
            end = (x, canvas.y[target] + shift, inverted)
            ends.setdefault((source, target), []).append(end)
    return ends


def _curve(x0: float, y0: float, x1: float, y1: float) -> str:
    middle = (x0 + x1) / 2
    if abs(y0 - y1) < 0.05:
        return f"M{_n(x0)} {_n(y0)}H{_n(x1)}"
    return f"M{_n(x0)} {_n(y0)}C{_n(middle)} {_n(y0)} {_n(middle)} {_n(y1)} {_n(x1)} {_n(y1)}"
