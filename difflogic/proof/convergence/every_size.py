"""Proves that a circuit is right on every grid, from all small grids at once.

The small grids lie side by side on one board, so that one run on sets of values decides them all.
On sets, a channel of a cell is unknown until some step, its *arrival*, and then known for good. Say
that each grid of `first` or more rows has two rows that end with the values of the two rows
`period` above, and settle the same number of steps later than those. Then the rows between can be
inserted again, any number of times: each cell of the larger grid sees what a cell of the smaller
one sees, only later. The same holds for columns, and for both at once. So the board proves all
grids. docs/notebook/certificates.md has the proof.

To make rows repeat, arrivals may be held back. That makes others later, never earlier, so the table
still says what is known at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import Walls
from difflogic.proof.answer import TIME_IS_UP, Answer, Assurance, Budget, Method
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.convergence.methods import SAMPLED_RUNS, SETS, answer_of, by_sets
from difflogic.proof.question import Asked, Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Array, Bits, Flags
from difflogic.system.errors import CircuitError, OutOfTimeError

PERIODS = (1, 2, 3, 4, 6, 8)
"""Rows or columns after which arrivals may repeat."""

BESIDE = (5, 9, 15)
"""Rows beside a period in the smallest grid that repeats."""

SLOWER = tuple(sorted(product(range(3), repeat=2), key=sum))
"""Periods' steps to add to the delays of rows and of columns that a board shows by itself."""

HELD_ROUNDS = 4
"""Rounds in which arrivals must settle while they are held back."""

MOST_REFUTED = 4
"""Most grids that sets do not prove to look at for a refutation, the smallest first."""

NO_ARRIVAL = 2**30
"""Arrival of an unknown value."""

Target = Callable[[int, int], Bits]
"""Maps height and width to the target, shape (visible, height, width). Raises NoTargetError."""


class NoTargetError(CircuitError):
    """A grid has no target, or none that is known in time."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """When each channel of each cell of a board becomes known, and its value."""

    steps: Array
    """Shape (channels, height, width)."""
    values: Bits
    """Same shape; 0 where unknown."""

    @property
    def turned(self) -> Arrivals:
        """The same for columns as for rows; views of the same arrays."""
        return Arrivals(self.steps.swapaxes(1, 2), self.values.swapaxes(1, 2))


@dataclass(frozen=True)
class Grids:
    """The small grids of a board: all heights and widths up to the last before one repeats."""

    first: int
    """From this side on, rows and columns repeat."""
    period: int

    @classmethod
    def smallest(cls, period: int) -> Grids:
        """Return the first to try."""
        return cls(BESIDE[0] + period, period)

    @property
    def sides(self) -> range:
        return range(1, self.first + self.period)

    @property
    def walls(self) -> Walls:
        return Walls(tuple(self.sides), tuple(self.sides))

    def start(self, side: int) -> int:
        """Return the board's first row, or column, of the grids of this side."""
        return side * (side - 1) // 2

    def base(self, side: int) -> int:
        """Return the side of the small grid that a grid of any side repeats."""
        return side if side in self.sides else self.first + (side - self.first) % self.period

    def cut(self, side: int) -> int:
        """Return the m for which rows m - 1 and m repeat."""
        return (side + self.period) // 2 + 1

    def lines(self, side: int) -> Array:
        """Return the board's rows, or columns, that a grid of any side consists of."""
        base = self.base(side)
        place = np.arange(side)
        cut = self.cut(base)
        extra = side - base
        again = cut - self.period + (place - cut) % self.period
        return self.start(base) + np.where(
            place < cut, place, np.where(place < cut + extra, again, place - extra)
        )

    @property
    def repeating(self) -> Array:
        """The board's rows, or columns, that repeat those `period` before."""
        cuts = [self.start(side) + self.cut(side) for side in self.sides[self.first - 1 :]]
        return np.array([cut - before for cut in cuts for before in (1, 0)])


@dataclass(frozen=True, eq=False)
class Table:
    """A proof for all grids: arrivals on the board of small grids, in which rows repeat."""

    question: Convergence
    """About the board."""
    arrivals: Arrivals
    grids: Grids
    delays: tuple[int, int]
    """Steps by which rows, and columns, repeat later. If negative, knowledge comes from the end."""

    def from_step(self, height: int, width: int) -> int:
        """Return a step from which a grid is right."""
        (rows, down), (columns, across) = map(self._larger, (height, width), self.delays)
        steps = self.arrivals.steps[list(self.question.visible_places), rows, columns]
        return int((steps + down[:, None] + across).max())

    def _larger(self, side: int, delay: int) -> tuple[slice, Array]:
        """Return the board's rows for a grid's rows, and by how much each copy may be later."""
        grids = self.grids
        base = grids.base(side)
        place = np.arange(base)
        cut = grids.cut(base)
        later = place >= cut - grids.period if delay >= 0 else place < cut
        start = grids.start(base)
        return slice(start, start + base), later * (side - base) // grids.period * abs(delay)


class EveryGrid(Protocol):
    """A proof for all grids."""

    def from_step(self, height: int, width: int) -> int:
        """Return a step from which a grid is right."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Asks whether every start ends in the target on every grid.

    The targets of all grids are the upper left parts of one picture of the plane, which repeats
    after `repeats` rows, and columns; None proves nothing. Unless they are `compared`, any picture
    that repeats will do.
    """

    automaton: Automaton
    target: Target
    repeats: int | None
    compared: bool = True
    own: Convergence | None = None
    """The same about the training grid, to say from which step on it is right."""
    wound: Wound | None = None
    """Damage that must stay local, too."""


@dataclass(frozen=True)
class EverySize:
    """What is known about grids of every height and width."""

    plane: Plane
    """The question."""
    proof: EveryGrid | None = None
    refuted: Finding | None = None
    """The finding for a small grid where some start misses the target."""
    reason: str = ""
    """Why the question is open."""

    @property
    def table(self) -> Table | None:
        """The proof, if small grids give it."""
        return self.proof if isinstance(self.proof, Table) else None

    @property
    def verdict(self) -> Verdict:
        if self.proof is not None:
            return Verdict.proved
        return Verdict.open if self.refuted is None else Verdict.refuted

    @property
    def asked(self) -> Asked:
        """The question in plain values."""
        made = replace(self.plane.automaton, boundary="zero")
        return Asked.of(made, "stays", "every start")

    @property
    def text(self) -> str:
        """The result in words."""
        if self.proof is not None:
            goal = "" if self.plane.compared else ": each ends in what zeros end in"
            return f"proved for every start on every grid{goal}"
        if self.refuted is not None:
            where = self.refuted.question
            cells = f"{where.height}×{where.width} cells"
            return f"fails: on {cells}, some starts keep missing the target"
        return f"not proved for every grid: {self.reason}"


def every_size(plane: Plane, budget: Budget) -> EverySize:
    """Prove that every start ends in the target on every grid, or find a grid where it does not.

    Without a clock, looks at one board only, which takes some hundredths of a second.
    """
    plane = replace(plane, automaton=replace(plane.automaton, boundary="zero"))
    repeats = plane.repeats
    compared = plane.compared
    periods = [period for period in PERIODS if repeats is not None and period % repeats == 0]
    boards = [Grids(beside + period, period) for beside in BESIDE for period in periods]
    for grids in boards if budget.clocked else boards[:1]:
        largest = grids.sides[-1]
        if compared:
            picture = plane.target(largest, largest)
        else:
            picture = np.zeros((len(plane.automaton.visible), largest, largest), np.uint8)
        asked = Convergence.of(plane.automaton, grids.walls.cut(picture))
        question = replace(asked, boundary=grids.walls)
        free = arrivals(question)
        wrong = _wrong(question, free, compared)
        if wrong.any():
            return refute(plane, _failing(grids, wrong), budget)
        for down, across in SLOWER:
            if budget.deadline.passed:
                return EverySize(plane, reason=TIME_IS_UP)
            delays = (_delay(free, grids, down), _delay(free.turned, grids, across))
            found = _repeating(question, free, grids, delays)
            if found is not None:
                return EverySize(plane, Table(question, found, grids, delays))
    return EverySize(plane, reason="rows and columns do not repeat")


def arrivals(question: Convergence, earliest: Array | None = None) -> Arrivals:
    """Run on sets from everything, holding each channel of each cell back until a step.

    `earliest` has shape (channels, height, width); None holds nothing back.
    """
    board = question.board
    channels = question.circuit.channels
    steps = np.zeros((channels, question.height, question.width), np.int64)
    if earliest is None:
        earliest = steps
    free = board.words(earliest <= 0)
    due = {int(step) for step in np.unique(earliest) if 0 < step < NO_ARRIVAL}
    state = sets.everything(channels, board)
    step = 0
    while True:
        step += 1
        if step in due:
            free = board.words(earliest <= step)
        after = sets.step(question.network, board, state)
        after = np.stack([after[0] & free, after[1] | board.shown.full ^ free])
        unknown = board.bits(state[0] ^ state[1])
        if np.array_equal(after, state) and step > max(due, default=0):
            return Arrivals(np.where(unknown, NO_ARRIVAL, steps), board.bits(state[0]))
        steps += unknown
        state = after


def _wrong(question: Convergence, found: Arrivals, compared: bool) -> Flags:
    """Return which cells stay unknown, or differ from the target."""
    shown = list(question.visible_places)
    wrong = (found.steps[shown] >= NO_ARRIVAL) | (found.values[shown] != question.target) & compared
    return np.asarray(wrong.any(axis=0))


def _failing(grids: Grids, wrong: Flags) -> list[tuple[int, int]]:
    """Return the heights and widths of the grids with such cells, small ones first."""
    side = np.repeat(grids.sides, grids.sides)
    sizes = {(int(side[y]), int(side[x])) for y, x in np.argwhere(wrong)}
    return sorted(sizes, key=lambda size: (max(size), size))


def refute(plane: Plane, failing: Sequence[tuple[int, int]], budget: Budget) -> EverySize:
    """Look for starts that miss the target on grids where sets do not prove it."""
    for size in failing[:MOST_REFUTED]:
        with suppress(OutOfTimeError):
            asked = Convergence.of(plane.automaton, plane.target(*size))
            answer = SAMPLED_RUNS.decide(asked, budget, answer_of(by_sets(asked)))
            if isinstance(answer, Answer):
                return EverySize(plane, refuted=answer.evidence)
    if budget.deadline.passed:
        return EverySize(plane, reason=TIME_IS_UP)
    height, width = failing[0]
    return EverySize(plane, reason=f"on {height}×{width} cells, some remain unknown")


def _decide(question: Plane, budget: Budget, before: Answer | None) -> Answer | str:
    """Decide it, and say from which step on the training grid is right."""
    found = every_size(question, budget)
    if found.verdict is Verdict.open and before is not None and before.assurance.proved:
        return found.reason
    return answer_about(found, SETS)


def answer_about(found: EverySize, method: Method) -> Answer:
    """Say what is found, and from which step on the training grid is right."""
    text = ""
    first = None
    proved = found.verdict is Verdict.proved
    own = found.plane.own
    if own is not None:
        first = by_sets(own).from_step
        if first is None and found.proof is not None:
            first = found.proof.from_step(own.height, own.width)
        text = f", on {own.height}×{own.width} cells from {found.asked.unit} {first} on"
    assurance = Assurance(
        found.verdict,
        "every size",
        found.text + text * proved,
        method.name,
        first,
        any_schedule=proved,
        asked=found.asked,
    )
    is_open = found.verdict is Verdict.open
    return Answer(assurance, found, outcome=found.reason if is_open else "decided")


SIZES = Method("sets of values, on every grid", 0.1, lambda each: isinstance(each, Plane), _decide)


def _delay(free: Arrivals, grids: Grids, slower: int) -> int:
    """Return the steps by which rows repeat later; negative is earlier."""
    now, before = (free.steps[:, grids.repeating - back] for back in (0, grids.period))
    later = (now - before)[(now < NO_ARRIVAL) & (before < NO_ARRIVAL)]
    latest = int(later.max())
    earliest = int(later.min())
    more = slower * grids.period
    return latest + more if latest + earliest >= 0 else earliest - more


def _repeating(
    question: Convergence, found: Arrivals, grids: Grids, delays: tuple[int, int]
) -> Arrivals | None:
    """Hold arrivals back until rows and columns repeat; None if they do not.

    Hidden channels whose values do not repeat stay unknown.
    """
    shown = list(question.visible_places)
    for _ in range(HELD_ROUNDS):
        later = Arrivals(found.steps.copy(), found.values)
        _hold_back(later, grids, delays[0])
        _hold_back(later.turned, grids, delays[1])
        if (later.steps[shown] >= NO_ARRIVAL).any():
            return None
        if (later.steps == found.steps).all():
            return found
        found = arrivals(question, later.steps)
    return None


def _hold_back(found: Arrivals, grids: Grids, delay: int) -> None:
    """Raise arrivals in place to the delay between the rows."""
    rows = [grids.repeating - back for back in (0, grids.period)]
    (now, before), (value, other) = (
        [part[:, row] for row in rows] for part in (found.steps, found.values)
    )
    known = (now < NO_ARRIVAL) & (before < NO_ARRIVAL) & (value == other)
    steps = np.maximum(now, before + delay)
    for row, each in zip(rows, (steps, steps - delay), strict=True):
        # With a period of 1, the second rows have one of the first ones, raised already.
        found.steps[:, row] = np.maximum(found.steps[:, row], np.where(known, each, NO_ARRIVAL))
