"""Nodes in layers, ordered so that few wires cross.

The steps are those of Sugiyama, Tagawa and Toda 1981: layers by depth, barycentres in sweeps, then
coordinates. All wires of a node share one way through the layers that they pass, since they carry
one signal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from difflogic.formats.diagram.graph import Diagram, Family

SWEEPS = 32
"""From left to right and back; fewer for large circuits, see `_WORK`."""

_WORK = 600_000  # points passed in all sweeps together, about


@dataclass(frozen=True)
class Point:
    """A place in a layer: a node, or one that the wires of node `source` pass through."""

    source: int
    layer: int
    passes: bool


@dataclass(frozen=True)
class Layering:
    """Points, the layers that they stand in from top to bottom, and which follow which.

    `points[n]` is node n's, for all nodes. `after[p]` are points of the next layer.
    """

    points: tuple[Point, ...]
    layers: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    before: tuple[tuple[int, ...], ...]


def arrange(diagram: Diagram) -> Layering:
    """Put a diagram's nodes into layers, inputs first and outputs last, and order each layer."""
    depth = _depths(diagram)
    points = [Point(node, layer, False) for node, layer in enumerate(depth)]
    after: list[list[int]] = [[] for _ in points]
    targets: dict[int, set[int]] = {}
    for wire in diagram.wires:
        targets.setdefault(wire.source, set()).add(wire.target)
    for source, readers in sorted(targets.items()):
        at = source
        for layer in range(depth[source] + 1, max(depth[reader] for reader in readers) + 1):
            after[at] += sorted(reader for reader in readers if depth[reader] == layer)
            if any(depth[reader] > layer for reader in readers):
                points.append(Point(source, layer, True))
                after.append([])
                after[at].append(len(points) - 1)
                at = len(points) - 1
    before: list[list[int]] = [[] for _ in points]
    for number, following in enumerate(after):
        for reader in following:
            before[reader].append(number)
    layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for number, point in enumerate(points):
        layers[point.layer].append(number)
    ordered = _uncross(layers, after, before)
    return Layering(
        tuple(points),
        tuple(map(tuple, ordered)),
        tuple(map(tuple, after)),
        tuple(map(tuple, before)),
    )


def _depths(diagram: Diagram) -> list[int]:
    """Return each node's layer: after all that it reads, the outputs together in the last."""
    depth = [0] * len(diagram.nodes)
    for wire in diagram.wires:  # in the order of their targets
        depth[wire.target] = max(depth[wire.target], depth[wire.source] + 1)
    last = max(depth)
    nearest: dict[int, int] = {}
    for node, family in enumerate(node.family for node in diagram.nodes):
        if family is Family.OUTPUT:
            depth[node] = last
    for wire in diagram.wires:
        nearest[wire.source] = min(nearest.get(wire.source, last), depth[wire.target])
    for node, family in enumerate(node.family for node in diagram.nodes):
        if family is Family.CONSTANT:
            depth[node] = max(nearest[node] - 1, 0)
    return depth


def _uncross(
    layers: Sequence[Sequence[int]], after: Sequence[Sequence[int]], before: Sequence[Sequence[int]]
) -> list[list[int]]:
    current = [list(layer) for layer in layers]
    best, fewest = current, crossings(current, after)
    sweeps = max(4, min(SWEEPS, _WORK // len(after)))
    for sweep in range(sweeps):
        current = [list(layer) for layer in current]
        forwards = sweep % 2 == 0
        numbers = range(1, len(current)) if forwards else range(len(current) - 2, -1, -1)
        for number in numbers:
            fixed = current[number - 1 if forwards else number + 1]
            _sort(current[number], fixed, before if forwards else after)
        count = crossings(current, after)
        if count < fewest:
            best, fewest = current, count
    return best


def _sort(layer: list[int], fixed: Sequence[int], others: Sequence[Sequence[int]]) -> None:
    """Order a layer by the mean place of what each point is joined to in the fixed layer."""
    place = {point: index for index, point in enumerate(fixed)}
    # A point that is joined to nothing there stays where it is, as far as it can.
    scale = len(fixed) / max(len(layer), 1)
    wanted = {
        point: (
            sum(place[other] for other in others[point]) / len(others[point])
            if others[point]
            else index * scale
        )
        for index, point in enumerate(layer)
    }
    layer.sort(key=wanted.__getitem__)


def crossings(layers: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    """Return how many pairs of wires cross between neighbouring layers."""
    count = 0
    for left, right in pairwise(layers):
        place = {point: index for index, point in enumerate(right)}
        seen: list[int] = []
        for point in left:
            for end in sorted(place[other] for other in after[point]):
                # Every wire seen so far that ends below this one crosses it.
                below = bisect_right(seen, end)
                count += len(seen) - below
                seen.insert(below, end)
    return count
