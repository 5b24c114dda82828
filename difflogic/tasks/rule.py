"""What a step must do in every neighbourhood, for a task to be solved on a grid of any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]

NW, N, NE, W, CENTER, E, SW, S, SE = range(9)


class Bounds(NamedTuple):
    """For each neighbourhood, one element each."""

    legal: Bits
    """Whether it can occur."""
    least: Bits
    """1 where the cell has to show 1 in the next step."""
    most: Bits
    """0 where it has to show 0."""


@dataclass(frozen=True)
class Rule:
    """Bounds of a step; why they suffice is proved in docs/local-rules.md, by `theorem`.

    A state is a given bit in channel 0, which stays, and a bit in channel 1, which is shown.
    """

    bounds: Callable[[Bits, Bits], Bounds]
    """From the given and the shown bits of neighbourhoods, both (9, cases)."""
    theorem: str
    """What follows, after "proved for every"."""


def flood(given: Bits, shown: Bits) -> Bounds:
    """Light spreads from a lit cell to free ones (given), to some that are connected at most."""
    legal: Bits = np.all(shown <= given, axis=0).astype(np.uint8)
    beside = shown[N] | shown[W] | shown[E] | shown[S]
    free, light = (bits.T.reshape(-1, 3, 3) for bits in (given, shown))
    reached = spread(free, light, 4)  # the longest way within 3×3 cells, but for the cell itself
    least: Bits = given[CENTER] & (shown[CENTER] | beside)
    return Bounds(legal, least, reached[:, 1, 1])


def spread(free: Bits, light: Bits, steps: int | None = None) -> Bits:
    """Return what light on free cells spreads to, in some steps or at last; (…, height, width)."""
    while steps != 0:
        wide = np.pad(light, [(0, 0)] * (light.ndim - 2) + [(1, 1)] * 2)
        beside = wide[..., :-2, 1:-1] | wide[..., 2:, 1:-1]
        beside |= wide[..., 1:-1, :-2] | wide[..., 1:-1, 2:]
        new = free & (light | beside)
        if (new == light).all():
            break
        light, steps = new, None if steps is None else steps - 1
    return light


def traffic(given: Bits, shown: Bits) -> Bounds:
    """Ones move one cell to the right where that one is 0 (rule 184), none leaves the line.

    The given bits are 1 in all cells of the line, two at least, and 0 beyond it.
    """
    others = [n for n in range(9) if n not in (W, CENTER, E)]
    alone = given[others].any(axis=0) | (given[W] + given[E] == 0)
    legal = given[CENTER] & ~alone & (shown <= given).all(axis=0)
    new = np.where(shown[CENTER], shown[E] | (1 - given[E]), shown[W]).astype(np.uint8)
    return Bounds(legal.astype(np.uint8), new, new)


FLOOD = Rule(flood, "grid: at step t all cells within t steps are lit, and none that is apart")
TRAFFIC = Rule(traffic, "length n from 2 on, from step n - 1 on")
