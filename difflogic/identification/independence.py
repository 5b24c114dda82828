"""Whether cells deviate independently, given the frame before, as far as a film shows.

What follows an entry is compared with the odds of that entry: what is left over is the *deviation*
of a cell. Two of them have products whose mean is 0 if cells are drawn apart. They are summed over
all pairs of cells that lie equally far apart, in the same step and in the next ones, by Fourier
transforms for all distances at once. A sum that Bernstein's inequality (for martingales: Freedman
1975) does not allow shows a dependence. Signs may cancel: so deviations from the commonest state
are compared, and those of each state from its share.

A rule that reads the frame before last shows in another way: what follows an entry depends on what
the cell was one frame earlier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from difflogic.examples.film import FrameArray
from difflogic.identification.families import Odds
from difflogic.system.array_types import Float64s
from difflogic.system.quantities import counted

Deviations = Float64s

MOST_COMPARED_CELLS = 2**20
"""Cells that are compared, once for each way to deviate."""

STEPS_APART = 2
"""Steps in which deviations are compared with those of later ones."""

LEAST_EXPECTED = 2.0
"""Cases of each kind that an entry should have, to be compared with the frame before last."""

SURPRISE = 9.0
"""Independent cells fail all comparisons together with a probability of at most some e^-9."""


@dataclass(frozen=True)
class Dependence:
    """What a film shows of how deviations hang together."""

    together: float = 0.0
    """The correlation of deviations that is hardest to explain by chance."""
    where: tuple[int, int, int] = (0, 0, 0)
    """Steps, rows and columns from one of these cells to the other."""
    shared: bool = False
    """Whether independent cells have no such correlation."""
    earlier: float = 0.0
    """How what follows an entry hangs together with what the cell was one frame earlier, up to 1:
    Cramér's V."""
    remembered: bool = False
    """Whether independent cells that only read the frame before have no such dependence: the film
    may be of a rule that reads two frames."""
    reach: int = 0
    """Rows or columns up to which cells were compared."""

    @property
    def independent(self) -> bool:
        """Whether no dependence was seen."""
        return not self.shared and not self.remembered

    @property
    def text(self) -> str:
        """What was looked at, and what was seen."""
        if self.remembered:
            return (
                "given the frame before, what a cell does depends on its own state one frame "
                f"earlier, too (by {self.earlier:.2f} of 1): no rule of the frame before has these "
                "odds"
            )
        if self.shared:
            return (
                f"given the frame before, cells deviate NOT independently (correlation "
                f"{self.together:+.2f} with the cell {self._place}): simulations draw them apart, "
                "and the intervals are too narrow"
            )
        return (
            f"no dependence seen beside, above and diagonally, up to {self.reach} cells away, in "
            f"the same step and up to {STEPS_APART} steps later, nor on the cell one frame earlier"
        )

    @property
    def _place(self) -> str:
        """Say where the other cell is."""
        steps, rows, columns = self.where
        below = "below" if rows > 0 else "above"
        side = "right" if columns > 0 else "left"
        said = {
            f"{abs(rows)} {below}": rows,
            f"{abs(columns)} to the {side}": columns,
            f"{counted(steps, 'step')} later": steps,
        }
        return ", ".join(words for words, far in said.items() if far)


NONE_SEEN = Dependence()


def compare(
    frames: FrameArray, entries: FrameArray, patterns: FrameArray, odds: Odds
) -> Dependence:
    """Compare the deviations of each cell with those of others, and with its earlier state.

    `entries` are those of all frames but the last, `odds` those of each state by entry. `patterns`
    tell apart all that a rule may read: in entries of many, a dependence may cancel.
    """
    states = odds.shape[1]
    ways = states + 1 if states > 2 else 2
    some = 1 + max(2, MOST_COMPARED_CELLS // (ways * frames[:, 0].size))
    frames = frames[:, :some]
    after = frames[:, 1:]
    entries = entries[:, : some - 1]
    together, where, shared = _strongest(after, entries, odds, ways)
    earlier, depends = max(
        (
            _memory(frames[:, :-2], each[:, 1 : some - 1], after[:, 1:], states)
            for each in (entries, patterns)
        ),
        key=lambda found: (found[1], found[0]),
    )
    # Cells that share a draw also share it with those that had their state one frame earlier.
    drawn_together = shared and not where[0]
    return Dependence(
        together,
        where,
        shared,
        earlier,
        remembered=depends and not drawn_together,
        reach=max(frames.shape[2:]) - 1,
    )


def _ways(after: FrameArray, entries: FrameArray, odds: Odds) -> Iterator[tuple[Deviations, Odds]]:
    """Yield each cell's deviation and its variance: from the commonest state, then of each."""
    states = odds.shape[1]
    commonest = odds.max(axis=1)
    yield (after == odds.argmax(axis=1)[entries]) - commonest[entries], commonest
    for state in range(states) if states > 2 else (1,):
        yield (after == state) - odds[:, state][entries], odds[:, state]


def _strongest(
    after: FrameArray, entries: FrameArray, odds: Odds, ways: int
) -> tuple[float, tuple[int, int, int], bool]:
    """Return the correlation that is least likely, where it is, and whether it is no accident."""
    height, width = after.shape[2:]
    later = range(min(STEPS_APART + 1, after.shape[1]))
    compared = ways * len(later) * (2 * height - 1) * (2 * width - 1)
    surprise = SURPRISE + math.log(compared)
    worst = 0.0
    found = 0.0
    where = (0, 0, 0)
    for away, share in _ways(after, entries, odds):
        spread = (share * (1 - share))[entries]
        for steps in later:
            total = _products(away, steps)
            variance = np.maximum(_products(spread, steps), 0)
            if not steps:  # each pair is there twice, and each cell with itself
                total.reshape(-1)[: total.size // 2 + 1] = 0
            excess = np.abs(total) / (np.sqrt(2 * surprise * variance) + surprise / 3)
            if excess.max() <= worst:
                continue
            worst = float(excess.max())
            row, column = divmod(int(excess.argmax()), excess.shape[1])
            where = steps, row - height + 1, column - width + 1
            found = _correlation(away, spread, where)
    return found, where, worst > 1


def _products(values: Deviations, steps: int) -> Deviations:
    """Sum the products of all pairs of cells, by how far apart they are.

    Shape (2 · height - 1, 2 · width - 1); the second cell is `steps` later.
    """
    height, width = values.shape[2:]
    seen = np.fft.rfft2(values, (2 * height, 2 * width))
    pairs = (seen[:, : seen.shape[1] - steps].conj() * seen[:, steps:]).sum(axis=(0, 1))
    sums = np.fft.irfft2(pairs, (2 * height, 2 * width))
    near = np.roll(sums, (height - 1, width - 1), (0, 1))
    return near[: 2 * height - 1, : 2 * width - 1].copy()


def _correlation(away: Deviations, spread: Odds, where: tuple[int, int, int]) -> float:
    """Return the correlation of deviations at one distance."""
    one = [slice(max(0, -far), min(size, size - far)) for far, size in _sides(away, where)]
    other = [slice(max(0, far), min(size, size + far)) for far, size in _sides(away, where)]
    first = (slice(None), *one)
    second = (slice(None), *other)
    total = float((away[first] * away[second]).sum())
    return total / (float(np.sqrt(spread[first] * spread[second]).sum()) or 1.0)


def _sides(away: Deviations, where: tuple[int, int, int]) -> Iterator[tuple[int, int]]:
    return zip(where, away.shape[1:], strict=True)


def _memory(
    before: FrameArray, entries: FrameArray, after: FrameArray, states: int
) -> tuple[float, bool]:
    """Return how what follows an entry hangs together with the state before it, and if that is so.

    All have the shape (films, frames, height, width). Pearson's statistics of the entries that were
    seen often enough are added. Source of the bound: Laurent and Massart 2000, lemma 1, with twice
    its deviations, since counts are no normal variables.
    """
    kinds, entry = np.unique(entries, return_inverse=True)
    cases = (entry.reshape(-1) * states + before.ravel()) * states + after.ravel()
    counts = np.bincount(cases, minlength=len(kinds) * states**2).reshape(-1, states, states)
    seen = counts.sum(axis=(1, 2))
    first = counts.sum(axis=2)
    last = counts.sum(axis=1)
    expected = first[:, :, None] * last[:, None] / np.maximum(seen, 1)[:, None, None]
    possible = expected > 0
    often = np.where(possible, expected, LEAST_EXPECTED).min(axis=(1, 2)) >= LEAST_EXPECTED
    squares = (counts - expected) ** 2 / np.where(possible, expected, 1.0)
    statistic = float((squares.sum(axis=(1, 2)) * (seen - 1) / np.maximum(seen, 1))[often].sum())
    rows = (first[often] > 0).sum(axis=1) - 1
    columns = (last[often] > 0).sum(axis=1) - 1
    freedom = int((rows * columns).sum())
    most = float((seen[often] * np.minimum(rows, columns)).sum())
    limit = freedom + 4 * math.sqrt(freedom * SURPRISE) + 4 * SURPRISE
    return math.sqrt(max(0.0, statistic - freedom) / (most or 1.0)), statistic > limit
