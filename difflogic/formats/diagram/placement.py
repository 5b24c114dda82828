"""Layout of a circuit's picture: nodes in layers with few crossing wires, then vertical places.

The steps are those of Sugiyama, Tagawa and Toda 1981: layers by depth, barycentres in sweeps, then
coordinates. All wires of a node share one path through the layers, since they carry one signal.

For places, each layer in turn moves to where its neighbours pull it. Given the order and the least
distances, the best places by least squares are an isotonic regression, which the
pool-adjacent-violators algorithm solves exactly (Ayer et al. 1955).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from difflogic.formats.diagram.graph import Drawing, NodeKind

SWEEPS = 32
"""Sweeps from left to right and back; fewer for large circuits."""

_SWEPT = 600_000  # points passed in all sweeps together, about

MOST_ROUNDS = 60
LEAST_ROUNDS = 8
"""Rounds of moving all layers; few for large circuits."""

_MOVED = 60_000  # points moved in all rounds together, about

_STRAIGHT = 8.0  # pull of a passing wire on a passing wire, beside 1 for nodes: keeps it straight


@dataclass(frozen=True)
class Point:
    """A node in its layer, or a layer that the wires of node `source` pass through."""

    source: int
    layer: int
    passes: bool


@dataclass(frozen=True)
class Layering:
    """Points, the layers from top to bottom, and which points wires join.

    `points[n]` is node n, for all nodes. `after[p]` are points of the next layer.
    """

    points: Sequence[Point]
    layers: Sequence[Sequence[int]]
    after: Sequence[Sequence[int]]
    before: Sequence[Sequence[int]]


def arrange(diagram: Drawing) -> Layering:
    """Put nodes into layers, inputs first and outputs last, and order each layer."""
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
    return Layering(points, _uncross(layers, after, before), after, before)


def _depths(diagram: Drawing) -> list[int]:
    """Return each node's layer: after those of its inputs; outputs are in the last one."""
    depth = [0] * len(diagram.nodes)
    for wire in diagram.wires:  # in the order of their targets
        depth[wire.target] = max(depth[wire.target], depth[wire.source] + 1)
    last = max(depth)
    nearest: dict[int, int] = {}
    for node, kind in enumerate(node.kind for node in diagram.nodes):
        if kind is NodeKind.OUTPUT:
            depth[node] = last
    for wire in diagram.wires:
        nearest[wire.source] = min(nearest.get(wire.source, last), depth[wire.target])
    for node, kind in enumerate(node.kind for node in diagram.nodes):
        if kind is NodeKind.CONSTANT:
            depth[node] = max(nearest[node] - 1, 0)
    return depth


def _uncross(
    layers: Sequence[Sequence[int]], after: Sequence[Sequence[int]], before: Sequence[Sequence[int]]
) -> list[list[int]]:
    current = [list(layer) for layer in layers]
    best = current
    fewest = crossings(current, after)
    sweeps = max(4, min(SWEEPS, _SWEPT // len(after)))
    for sweep in range(sweeps):
        current = [list(layer) for layer in current]
        forwards = sweep % 2 == 0
        numbers = range(1, len(current)) if forwards else range(len(current) - 2, -1, -1)
        for number in numbers:
            fixed = current[number - 1 if forwards else number + 1]
            _sort(current[number], fixed, before if forwards else after)
        count = crossings(current, after)
        if count < fewest:
            best = current
            fewest = count
    return best


def _sort(layer: list[int], fixed: Sequence[int], others: Sequence[Sequence[int]]) -> None:
    """Order a layer by the mean place of each point's neighbours in the fixed layer."""
    place = {point: index for index, point in enumerate(fixed)}
    # A point without neighbours there roughly keeps its place.
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
    """Return the number of pairs of wires that cross between adjacent layers."""
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


def place(layering: Layering, heights: Sequence[float], gap: float) -> list[float]:
    """Return each point's vertical centre. Points of a layer are `gap` apart."""
    y = [0.0] * len(layering.points)
    for layer in layering.layers:
        top = 0.0
        for point in layer:
            y[point] = top + heights[point] / 2
            top += heights[point] + gap
    numbers = range(len(layering.layers))
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, _MOVED // len(y)))
    for turn in range(2 * rounds):
        order = numbers if turn % 2 == 0 else numbers[::-1]
        sides = [layering.before, layering.after]
        if turn < rounds:  # at first from one side only, to move everything
            del sides[1 - turn % 2]
        for number in order:
            _pull(layering, layering.layers[number], sides, y, heights, gap)
    return _without_bands(y, heights, 2 * gap)


def _without_bands(y: Sequence[float], heights: Sequence[float], most: float) -> list[float]:
    """Return places from 0 on without empty bands across all layers higher than `most`.

    Separate parts of a circuit push each other away, and nothing pulls them back.
    """
    placed = list(y)
    tops = [middle - height / 2 for middle, height in zip(y, heights, strict=True)]
    bottom = moved = min(tops)
    for point in sorted(range(len(y)), key=tops.__getitem__):
        top = tops[point]
        moved += max(0.0, top - bottom - most)
        placed[point] = y[point] - moved
        bottom = max(bottom, y[point] + heights[point] / 2)
    return placed


def _pull(
    layering: Layering,
    layer: Sequence[int],
    sides: Sequence[Sequence[Sequence[int]]],
    y: list[float],
    heights: Sequence[float],
    gap: float,
) -> None:
    """Move a layer's points towards the mean of their neighbours, keeping order and distances."""
    wanted = []
    weights = []
    offset = 0.0
    offsets = []
    for index, point in enumerate(layer):
        if index:
            offset += (heights[layer[index - 1]] + heights[point]) / 2 + gap
        offsets.append(offset)
        joined = [other for side in sides for other in side[point]]
        passes = layering.points[point].passes
        pulls = [_STRAIGHT if passes and layering.points[o].passes else 1.0 for o in joined]
        mean = (
            sum(pull * y[other] for pull, other in zip(pulls, joined, strict=True)) / sum(pulls)
            if joined
            else y[point]
        )
        wanted.append(mean - offset)
        weights.append(sum(pulls) or 0.01)
    for point, value, shift in zip(layer, isotonic(wanted, weights), offsets, strict=True):
        y[point] = value + shift


def isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the ascending sequence nearest to `values`, by weighted least squares."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, total, length) = blocks.pop(-2)
            (other, more, further) = blocks.pop()
            joint = total + more
            blocks.append(((mean * total + other * more) / joint, joint, length + further))
    return [mean for mean, _, length in blocks for _ in range(length)]
