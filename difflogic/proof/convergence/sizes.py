"""Certificates for grids of every size, from certificates of a few grids.

On sets, a channel of a cell is unknown until some step, its *arrival*, and then known for good. Say
that in a grid's table of arrivals two rows repeat the two rows p before, all later by the same
number of steps. Then the rows between can be inserted again, any number of times: each cell of the
larger grid still sees the same, only later. The same holds for columns, and for both at once. So
one grid proves all larger ones whose sides have the same remainders by p. docs/certificates.md has
the proof.

To make rows repeat, arrivals may be held back. That makes others later, never earlier, so the table
still says what is known at least.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.deciding import by_sets
from difflogic.proof.convergence.findings import Bits, Question
from difflogic.proof.convergence.planes import unpack
from difflogic.proof.convergence.sets import Sets
from difflogic.system.deadline import NEVER as NO_DEADLINE
from difflogic.system.deadline import Deadline

PERIODS = (1, 2, 3, 4, 6, 8)
"""Rows or columns after which arrivals may repeat."""

BASES = (12, 16, 20, 24)
"""Approximate sides of the grids to prove larger ones from."""

DELAYS = range(5)
"""Steps per row or column by which knowledge may be later."""

ONE_WAY = 0.3
"""If the share of cells with later knowledge exceeds that with earlier knowledge by this much, do
not try the opposite direction."""

NEVER = 2**30
"""Arrival of an unknown value."""

MOST_ROUNDS = 16
"""Rounds in which arrivals must settle while they are held back."""

Array = npt.NDArray[np.int64]

Target = Callable[[int, int], Bits]
"""Maps height and width to the target, shape (visible, height, width)."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """When each channel of each cell becomes known on one grid, and its value."""

    steps: Array
    """Shape (channels, height, width)."""
    values: Array
    """Same shape; 0 where unknown."""


@dataclass(frozen=True)
class Repeat:
    """Rows (or columns) `at` - 1 and `at` repeat those `period` before, `delay` steps later.

    A negative delay is earlier: then knowledge comes from the other side.
    """

    at: int
    period: int
    delay: int


@dataclass(frozen=True)
class Size:
    """One grid's certificate."""

    height: int
    width: int
    from_step: int | None
    """None if not certified."""


@dataclass(frozen=True)
class Base:
    """A certified grid that proves all grids with whole periods more of rows and columns."""

    height: int
    width: int
    rows: Repeat
    columns: Repeat
    latest: tuple[tuple[int, int], tuple[int, int]]
    """Latest visible arrivals: above and below `rows.at`, each left and right of `columns.at`."""

    def from_step(self, height: int, width: int) -> int:
        """Return the step from which a larger grid proved by this base is right."""
        down = _shifts((height - self.height) // self.rows.period, self.rows.delay)
        across = _shifts((width - self.width) // self.columns.period, self.columns.delay)
        return max(
            self.latest[y][x] + down[y] + across[x] for y, x in itertools.product((0, 1), repeat=2)
        )


def _shifts(times: int, delay: int) -> tuple[int, int]:
    """Return the delays on both sides of a cut after `times` insertions."""
    return (0, times * delay) if delay >= 0 else (-times * delay, 0)


@dataclass(frozen=True)
class Theorem:
    """Certifies all grids from some size on, perhaps only for certain remainders of the sides."""

    period: int
    bases: dict[tuple[int, int], Base]
    """By the remainders of height and width by `period`. Missing remainders are not proved."""

    def from_step(self, height: int, width: int) -> int | None:
        """Return a step from which a grid of this size is right; None if not proved."""
        base = self.bases.get((height % self.period, width % self.period))
        if base is None or height < base.height or width < base.width:
            return None
        return base.from_step(height, width)


class Sizes:
    """Certifies one circuit on grids of many sizes with zeros beyond the edge.

    On a periodic grid no place is special, so only a uniform target could be certified. `visible`
    are labels. The targets of all grids are the upper left parts of one picture of the plane, which
    repeats after `repeats` rows, and columns. If they are what the proof finds, it is 1; if nothing
    is known of them, None.
    """

    def __init__(
        self, circuit: Circuit, visible: tuple[int, ...], target: Target, repeats: int | None
    ) -> None:
        self._circuit, self._visible, self._target = circuit, visible, target
        self._repeats = repeats

    def table(self, sides: Iterable[int], deadline: Deadline = NO_DEADLINE) -> Iterator[Size]:
        """Yield certificates of square grids until `deadline`."""
        for side in sides:
            if deadline.passed:
                return
            yield self.certify(side, side)

    def certify(self, height: int, width: int) -> Size:
        return Size(height, width, by_sets(self._question(height, width)).from_step)

    def theorem(self, deadline: Deadline = NO_DEADLINE) -> Theorem | None:
        """Prove all large grids, perhaps of some remainders only; None if nothing is proved.

        Takes the least period that proves anything.
        """
        for period in PERIODS:
            if self._repeats is None or period % self._repeats:
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

    def _first_base(self, rows: int, columns: int, period: int, deadline: Deadline) -> Base | None:
        """Return a base whose sides have these remainders, if any."""
        for side in BASES:
            height, width = (side + (rest - side) % period for rest in (rows, columns))
            question = self._question(height, width)
            first = arrivals(question, np.zeros((self._circuit.channels, height, width), np.int64))
            steps = first.steps[list(question.visible_places)]
            known = (steps < NEVER).all()
            if not known or (first.values[list(question.visible_places)] != question.target).any():
                return None
            base = self._base(question, steps, period, deadline)
            if base is not None or deadline.passed:
                return base
        return None

    def _base(
        self, question: Question, steps: Array, period: int, deadline: Deadline
    ) -> Base | None:
        """Look for delays with which rows and columns repeat; `steps` are the visible arrivals."""
        last_step = 3 * int(steps.max()) + 10 * period
        cuts = [(side + period) // 2 + 1 for side in (question.height, question.width)]
        ways = (_delays(steps, period), _delays(steps.transpose(0, 2, 1), period))
        for down, across in sorted(itertools.product(*ways), key=lambda d: abs(d[0]) + abs(d[1])):
            if deadline.passed:
                return None
            rows, columns = Repeat(cuts[0], period, down), Repeat(cuts[1], period, across)
            found = repeating(question, rows, columns, last_step)
            if found is not None:
                upper, lower = np.split(
                    found.steps[list(question.visible_places)], [rows.at], axis=1
                )
                latest = _latest(upper, columns.at), _latest(lower, columns.at)
                return Base(question.height, question.width, rows, columns, latest)
        return None


def _delays(steps: Array, period: int) -> list[int]:
    """Return the delays to try between rows `period` apart; negative is earlier."""
    later = np.sign(steps[:, period:] - steps[:, :-period]).mean()
    signs = (1,) if later > ONE_WAY else (-1,) if later < -ONE_WAY else (1, -1)
    return sorted({sign * period * slope for sign in signs for slope in DELAYS})


def _latest(steps: Array, column: int) -> tuple[int, int]:
    """Return the latest arrivals left and right of a column."""
    return int(steps[..., :column].max()), int(steps[..., column:].max())


def arrivals(question: Question, earliest: Array) -> Arrivals:
    """Run on sets from everything, holding each channel of each cell back until a step.

    `earliest` has shape (channels, height, width); 0 holds nothing back.
    """
    board, channels = question.board, len(earliest)
    released = [
        {int(step): board.pack(rows == step) for step in np.unique(rows) if step < NEVER}
        for rows in earliest
    ]
    last = max((max(plan, default=0) for plan in released), default=0)
    free = [plan.get(0, 0) for plan in released]
    state = sets.everything(channels, board)
    steps, step = np.full(earliest.shape, NEVER, np.int64), 0
    while True:
        step += 1
        free = [plane | plan.get(step, 0) for plane, plan in zip(free, released, strict=True)]
        after = sets.step(question.network, board, state)
        after = Sets(
            tuple(low & plane for low, plane in zip(after.least, free, strict=True)),
            tuple(high | board.full ^ plane for high, plane in zip(after.most, free, strict=True)),
        )
        for channel, (was, now) in enumerate(zip(state.unknown, after.unknown, strict=True)):
            if was != now:
                steps[channel][board.unpack(was ^ now) == 1] = step
        if after == state and step > last:
            break
        state = after
    return Arrivals(steps, np.where(steps == NEVER, 0, unpack(board, state.least)))


def repeating(question: Question, rows: Repeat, columns: Repeat, latest: int) -> Arrivals | None:
    """Hold arrivals back until rows and columns repeat; None if they do not.

    Hidden channels whose values do not repeat stay unknown. Visible ones must be known by step
    `latest`.
    """
    shown = list(question.visible_places)
    earliest = np.zeros((question.circuit.channels, question.height, question.width), np.int64)
    for _ in range(MOST_ROUNDS):
        found = arrivals(question, earliest)
        if (found.steps[shown] > latest).any():
            return None
        later = found.steps.copy()
        _hold_back(later, rows)
        _hold_back(later.transpose(0, 2, 1), columns)
        differing = _differing(found.values, rows) | _differing(
            found.values.transpose(0, 2, 1), columns
        )
        if differing[shown].any():
            return None
        later[differing] = NEVER
        if (later == found.steps).all():
            return found
        earliest = later
    return None


def _hold_back(steps: Array, repeat: Repeat) -> None:
    """Raise arrivals (channels, rows, columns) in place to the delay between the rows."""
    for row in (repeat.at - 1, repeat.at):
        now, before = steps[:, row], steps[:, row - repeat.period]
        never = (now >= NEVER) | (before >= NEVER)
        now[:] = np.where(never, NEVER, np.maximum(now, before + repeat.delay))
        before[:] = np.where(never, NEVER, np.maximum(before, now - repeat.delay))


def _differing(values: Array, repeat: Repeat) -> npt.NDArray[np.bool_]:
    """Return which channels have different values in the rows that should repeat."""
    now, before = (slice(row - 1, row + 1) for row in (repeat.at, repeat.at - repeat.period))
    found: npt.NDArray[np.bool_] = (values[:, now] != values[:, before]).any(axis=(1, 2))
    return found
