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
    """1 where channel 0, or 1, of the cell has to be 1 in the next step: (2, cases)."""
    most: Bits
    """0 where it has to be 0."""


@dataclass(frozen=True)
class Rule:
    """Bounds of a step; why they suffice is proved in docs/local-rules.md, by `theorem`.

    A state is a bit in channel 0 and a bit in channel 1.
    """

    bounds: Callable[[Bits, Bits], Bounds]
    """From the bits of neighbourhoods in channel 0 and in channel 1, both (9, cases)."""
    theorem: str
    """What follows, after "proved for every"."""


def flood(given: Bits, shown: Bits) -> Bounds:
    """Light spreads from a lit cell to free ones (given), to some that are connected at most."""
    legal: Bits = np.all(shown <= given, axis=0).astype(np.uint8)
    beside = shown[N] | shown[W] | shown[E] | shown[S]
    free, light = (bits.T.reshape(-1, 3, 3) for bits in (given, shown))
    reached = spread(free, light, 4)  # the longest way within 3×3 cells, but for the cell itself
    least = given[CENTER] & (shown[CENTER] | beside)
    return Bounds(legal, *(np.stack([given[CENTER], bits]) for bits in (least, reached[:, 1, 1])))


def dead_ends(marks: Bits, free: Bits) -> Bounds:
    """A free cell stays free if it has a mark, or two free neighbours at least."""
    legal: Bits = np.all(marks <= free, axis=0).astype(np.uint8)
    ways = free[N] + free[W] + free[E] + free[S]
    new = np.stack([marks[CENTER], free[CENTER] & (marks[CENTER] | (ways >= 2))])
    return Bounds(legal, new, new)


def spread(free: Bits, light: Bits, steps: int | None = None) -> Bits:
    """Return what light on free cells spreads to, in some steps or at last; (…, height, width)."""
    return _repeat(lambda lit: free & (lit | (_beside(lit) > 0)), light, steps)


def fill(marks: Bits, free: Bits, steps: int | None = None) -> Bits:
    """Return which free cells are left once dead ends fill up; (…, height, width)."""
    return _repeat(lambda left: left & (marks | (_beside(left) >= 2)), free, steps)


def _beside(cells: Bits) -> Bits:
    """Return how many of the four neighbours of each cell are 1."""
    wide = np.pad(cells, [(0, 0)] * (cells.ndim - 2) + [(1, 1)] * 2)
    found: Bits = wide[..., :-2, 1:-1] + wide[..., 2:, 1:-1]
    return found + wide[..., 1:-1, :-2] + wide[..., 1:-1, 2:]


def _repeat(step: Callable[[Bits], Bits], cells: Bits, steps: int | None) -> Bits:
    while steps != 0:
        new = step(cells)
        if (new == cells).all():
            break
        cells, steps = new, None if steps is None else steps - 1
    return cells


def traffic(given: Bits, shown: Bits) -> Bounds:
    """Ones move one cell to the right where that one is 0 (rule 184), none leaves the line.

    The given bits are 1 in all cells of the line, two at least, and 0 beyond it.
    """
    legal = _line(given) & (shown <= given).all(axis=0)
    new = np.where(shown[CENTER], shown[E] | (1 - given[E]), shown[W]).astype(np.uint8)
    return Bounds(legal, *[np.stack([given[CENTER], new])] * 2)


def cancelling(yes: Bits, no: Bits) -> Bounds:
    """A vote moves left if the cell there has no vote of its kind; two that meet cancel.

    A cell with a vote has a bit in one channel, a cell without one in both; none lies beyond.
    """
    here = []
    for mine, other in ((yes, no), (no, yes)):
        ahead = other[W] == 0  # a vote of the kind, or the end
        here.append(np.where(other[CENTER] == 0, ahead, mine[E] & (1 - other[E])))
    new = 1 - np.stack([here[1] & (1 - here[0]), here[0] & (1 - here[1])]).astype(np.uint8)
    return Bounds(_line(yes | no), new, new)


def _line(cells: Bits) -> Bits:
    """Return where the cells of a neighbourhood are on a line, two cells of it at least."""
    others = [n for n in range(9) if n not in (W, CENTER, E)]
    legal = cells[CENTER] & (cells[W] | cells[E]) & (1 - cells[others].max(axis=0))
    return legal.astype(np.uint8)


FLOOD = Rule(flood, "grid: at step t all cells within t steps are lit, and none that is apart")
DEAD_ENDS = Rule(dead_ends, "grid: what is no dead end stays, and all else goes out in time")
TRAFFIC = Rule(traffic, "length n from 2 on, from step n - 1 on")
CANCELLING = Rule(cancelling, "length n from 2 on, from step 3(n - 1)/2 on")
