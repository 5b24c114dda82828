"""Certificates for grids of every size, from a few of them.

Where two rows of a grid's arrivals repeat those p rows before, all by the same number of steps
later, the rows between can be put in again, as often as one likes: each cell of the larger grid
still sees what it saw, only later. The same holds for columns, and for both at once. So one grid
proves all larger ones whose sides leave the same remainders by p: docs/certificates.md proves it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.proof.convergence.arrivals import NEVER, Array, Repeat, arrivals, repeating
from difflogic.proof.convergence.deciding import by_sets
from difflogic.proof.convergence.findings import Bits, Question
from difflogic.system.deadline import NEVER as NO_DEADLINE
from difflogic.system.deadline import Deadline

PERIODS = (1, 2, 3, 4, 6, 8)
"""Rows, or columns, after which a run may repeat."""

BASES = (12, 16, 20, 24)
"""Sides, about, of the grids from which larger ones are tried to follow."""

DELAYS = range(5)
"""Steps per row and column, by which knowledge may come later on the way."""

ONE_WAY = 0.3
"""Share of the cells where knowledge comes later, less those where it comes earlier, from which
on it is not looked for the other way round."""

Target = Callable[[int, int], Bits]
"""From height and width to what the visible channels are to show, (visible, height, width)."""


@dataclass(frozen=True)
class Size:
    """One grid's certificate."""

    height: int
    width: int
    from_step: int | None
    """None if it is not certified."""


@dataclass(frozen=True)
class Base:
    """A certified grid that proves all those with more rows and columns by whole periods."""

    height: int
    width: int
    rows: Repeat
    columns: Repeat
    latest: tuple[tuple[int, int], tuple[int, int]]
    """Latest arrivals in view, above and below `rows.at`, left and right of `columns.at`."""

    def from_step(self, height: int, width: int) -> int:
        """Return the step from which a larger grid of this base is right."""
        down = _shifts((height - self.height) // self.rows.period, self.rows.delay)
        across = _shifts((width - self.width) // self.columns.period, self.columns.delay)
        return max(
            self.latest[y][x] + down[y] + across[x] for y, x in itertools.product((0, 1), repeat=2)
        )


def _shifts(times: int, delay: int) -> tuple[int, int]:
    """Return by how much each side of a cut comes later if it is widened `times` times."""
    return (0, times * delay) if delay >= 0 else (-times * delay, 0)


@dataclass(frozen=True)
class Theorem:
    """All grids from some size on are certified, or those whose sides leave certain remainders."""

    period: int
    bases: dict[tuple[int, int], Base]
    """By the remainders of height and width by `period`: whatever is missing here is not proved."""

    def from_step(self, height: int, width: int) -> int | None:
        """Return a step from which a grid of these or more rows and columns is right; or None."""
        base = self.bases.get((height % self.period, width % self.period))
        if base is None or height < base.height or width < base.width:
            return None
        return base.from_step(height, width)


class Sizes:
    """Certifies one circuit on grids of many sizes, beyond which lie zeros.

    On a periodic grid no place is special: nothing but a uniform target could be certified.
    """

    def __init__(self, circuit: Circuit, visible: tuple[int, ...], target: Target) -> None:
        """`visible` are labels."""
        self._circuit, self._visible, self._target = circuit, visible, target

    def table(self, sides: Iterable[int], deadline: Deadline = NO_DEADLINE) -> Iterator[Size]:
        """Yield the certificates of square grids, as far as the time suffices."""
        for side in sides:
            if deadline.passed:
                return
            yield self.certify(side, side)

    def certify(self, height: int, width: int) -> Size:
        """Certify one grid."""
        return Size(height, width, by_sets(self._question(height, width)).from_step)

    def theorem(self, deadline: Deadline = NO_DEADLINE) -> Theorem | None:
        """Return the proof for all large grids, or of some remainders; None if none goes through.

        The least period is taken with which anything is proved.
        """
        for period in PERIODS:
            if not self._grows(period):
                continue
            bases = {}
            for rows, columns in itertools.product(range(period), repeat=2):
                base = self._first_base(rows, columns, period, deadline)
                if base is not None:
                    bases[rows, columns] = base
            if bases:
                return Theorem(period, bases)
        return None

    def _question(self, height: int, width: int) -> Question:
        target = self._target(height, width)
        return Question(self._circuit, self._visible, height, width, "zero", target)

    def _grows(self, period: int) -> bool:
        """Return whether larger targets are smaller ones with rows, or columns, put in again."""
        side, larger = BASES[0], BASES[0] + period
        small, tall, wide = (
            self._target(*size) for size in ((side, side), (larger, side), (side, larger))
        )
        return all(
            bool((grown[:, :-period] == one).all() and (grown[:, period:] == one).all())
            for grown, one in ((tall, small), (wide.transpose(0, 2, 1), small.transpose(0, 2, 1)))
        )

    def _first_base(self, rows: int, columns: int, period: int, deadline: Deadline) -> Base | None:
        """Return the first base that is found whose sides leave these remainders."""
        for side in BASES:
            height, width = (side + (rest - side) % period for rest in (rows, columns))
            question = self._question(height, width)
            first = arrivals(question, np.zeros((self._circuit.channels, height, width), np.int64))
            steps = first.steps[list(question.shown)]
            known = (steps < NEVER).all()
            if not known or (first.values[list(question.shown)] != question.target).any():
                return None
            base = self._base(question, steps, period, deadline)
            if base is not None or deadline.passed:
                return base
        return None

    def _base(
        self, question: Question, steps: Array, period: int, deadline: Deadline
    ) -> Base | None:
        """Look for delays with which rows and columns repeat; `steps` are arrivals in view."""
        latest = 3 * int(steps.max()) + 10 * period
        cuts = [(side + period) // 2 + 1 for side in (question.height, question.width)]
        ways = (_delays(steps, period), _delays(steps.transpose(0, 2, 1), period))
        for down, across in sorted(itertools.product(*ways), key=lambda d: abs(d[0]) + abs(d[1])):
            if deadline.passed:
                return None
            rows, columns = Repeat(cuts[0], period, down), Repeat(cuts[1], period, across)
            found = repeating(question, rows, columns, latest)
            if found is not None:
                return _base_of(question, found.steps[list(question.shown)], rows, columns)
        return None


def _delays(steps: Array, period: int) -> list[int]:
    """Return by how much later rows may be than those `period` before; negative is earlier."""
    later = np.sign(steps[:, period:] - steps[:, :-period]).mean()
    signs = (1,) if later > ONE_WAY else (-1,) if later < -ONE_WAY else (1, -1)
    return sorted({sign * period * slope for sign in signs for slope in DELAYS})


def _base_of(question: Question, steps: Array, rows: Repeat, columns: Repeat) -> Base:
    quarters = [
        [int(part.max()) for part in np.split(half, [columns.at], axis=2)]
        for half in np.split(steps, [rows.at], axis=1)
    ]
    (a, b), (c, d) = quarters
    return Base(question.height, question.width, rows, columns, ((a, b), (c, d)))
