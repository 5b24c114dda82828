"""Coordinates for ordered layers: points keep their distance, wires run as straight as they can.

Each layer in turn is moved to where its neighbours pull it. With the order and the least distances
given, the best places in the sense of least squares are an isotonic regression, which the
pool-adjacent-violators algorithm solves exactly (Ayer et al. 1955).
"""

from __future__ import annotations

from collections.abc import Sequence

from difflogic.formats.diagram.layers import Layering

MOST_ROUNDS, LEAST_ROUNDS = 60, 8
"""From left to right and back; fewer for large circuits, see `_WORK`."""

_WORK = 60_000  # points moved in all rounds together, about

_STRAIGHT = 8.0  # how much harder a passing wire is pulled than a node, so that it stays straight


def place(layering: Layering, heights: Sequence[float], gap: float) -> list[float]:
    """Return each point's vertical centre; points are `heights` high and `gap` apart."""
    y = [0.0] * len(layering.points)
    for layer in layering.layers:
        top = 0.0
        for point in layer:
            y[point] = top + heights[point] / 2
            top += heights[point] + gap
    numbers = range(len(layering.layers))
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, _WORK // len(y)))
    for turn in range(2 * rounds):
        order = numbers if turn % 2 == 0 else numbers[::-1]
        sides = [layering.before, layering.after]
        if turn < rounds:  # at first from one side alone, so that all gets moving
            del sides[1 - turn % 2]
        for number in order:
            _pull(layering, layering.layers[number], sides, y, heights, gap)
    return _without_bands(y, heights, 2 * gap)


def _without_bands(y: Sequence[float], heights: Sequence[float], most: float) -> list[float]:
    """Return places from 0 on in which no band across all layers is empty and higher than `most`.

    Parts of a circuit that are not joined push each other away; nothing else pulls them back.
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
    """Move a layer's points to the mean of what they are joined to, as far as there is room."""
    wanted, weights, offset = [], [], 0.0
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
    """Return the ascending sequence that is nearest to `values` in weighted least squares."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        blocks.append((value, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, total, length), (other, more, further) = blocks.pop(-2), blocks.pop()
            joint = total + more
            blocks.append(((mean * total + other * more) / joint, joint, length + further))
    return [mean for mean, _, length in blocks for _ in range(length)]
