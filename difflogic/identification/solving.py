"""Rules of recordings with gaps, unseen cells or an unknown boundary, by a SAT solver.

Variables are the bits of the table's entries and of the cells that were not seen. A cell one step
after cells that were seen *is* an entry's variable. For any other, clauses say for every pattern
that its unseen neighbours allow: if these are so, the cell is what the pattern's entry says. Of
outer-totalistic rules the neighbours in each state are sorted, so that their number is all that is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

from difflogic.identification.recording import Recording
from difflogic.identification.rules import UNKNOWN, Space, Table
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import StoppedError

State = tuple[int, ...]
"""A cell's bits, lowest first: literals of the formula."""

FIRST_CONFLICTS = 50
"""Of a question, before the others are asked; then more, as learned clauses make all easier."""

Update = Callable[[int, int | None, str], object]
"""Is told what is done, of how much, and a remark."""


class Encoding:
    """A formula about a rule and the cells that it was seen on."""

    def __init__(
        self, formula: Formula, space: Space, boundary: str, gap: int, known: Table
    ) -> None:
        self.formula, self.space, self.boundary, self.gap = formula, space, boundary, gap
        self.occurring = known != UNKNOWN
        """Entries that some cell may depend on."""
        self.rule: list[State] = [
            self.new_state() if state == UNKNOWN else self.constant(state)
            for state in known.tolist()
        ]
        self._cells: dict[tuple[int, int, int, int], State] = {}
        self._results: dict[tuple[State, ...], State] = {}
        self._sorted: dict[tuple[int, ...], list[int]] = {}

    def constant(self, state: int) -> State:
        return tuple(self.formula.constant(state >> bit & 1) for bit in range(self.space.bits))

    def new_state(self) -> State:
        state = tuple(self.formula.variable() for _ in range(self.space.bits))
        for wrong in range(self.space.states, 1 << self.space.bits):
            self.formula.add([-literal for literal in self.spelled(state, wrong)])
        return state

    def spelled(self, state: State, value: int) -> list[int]:
        """Return literals that all hold if a state has this value."""
        return [bit if value >> place & 1 else -bit for place, bit in enumerate(state)]

    def _value(self, state: State) -> int | None:
        """Return a state that is known, else None."""
        true = self.formula.true
        if any(abs(bit) != true for bit in state):
            return None
        return sum((bit == true) << place for place, bit in enumerate(state))

    def explain(self, frames: npt.NDArray[np.int64], recording: int, frame: int) -> None:
        """Demand that a frame of a recording, (frames, height, width), follows from the others."""
        last = frame * self.gap
        for y, x in np.argwhere(frames[frame] != UNKNOWN).tolist():
            around = self._around(frames, recording, last - 1, y, x)
            self.require(around, self.constant(int(frames[frame, y, x])))

    def _around(
        self, frames: npt.NDArray[np.int64], recording: int, step: int, y: int, x: int
    ) -> tuple[State, ...]:
        return tuple(
            self._cell(frames, recording, step, y + dy, x + dx) for dy, dx in self.space.offsets
        )

    def _cell(
        self, frames: npt.NDArray[np.int64], recording: int, step: int, y: int, x: int
    ) -> State:
        """Return the state of a cell after so many steps."""
        _, height, width = frames.shape
        if self.boundary == "periodic":
            y, x = y % height, x % width
        outside = not (0 <= y < height and 0 <= x < width)
        if outside and self.boundary == "zero":
            return self.constant(0)
        key = recording, step, y, x
        if key not in self._cells:
            frame, between = divmod(step, self.gap)
            if not outside and not between and frames[frame, y, x] != UNKNOWN:
                found = self.constant(int(frames[frame, y, x]))
            elif outside or not step:
                found = self.new_state()
            else:
                found = self._next(self._around(frames, recording, step - 1, y, x))
            self._cells[key] = found
        return self._cells[key]

    def _next(self, cells: tuple[State, ...]) -> State:
        """Return what the rule makes of a neighbourhood."""
        values = [self._value(state) for state in cells]
        known = [value for value in values if value is not None]
        if len(known) == len(cells):
            pattern = sum(w * value for w, value in zip(self.space.weights, known, strict=True))
            return self._entry(int(self.space.entry_of[pattern]))
        key = self._alike(cells)
        if key not in self._results:
            self._results[key] = result = self.new_state()
            self._link(cells, result)
        return self._results[key]

    def require(self, cells: tuple[State, ...], state: State) -> None:
        if all(self._value(cell) is not None for cell in cells):
            self._equate(self._next(cells), state)
            return
        key = self._alike(cells)
        if key not in self._results:
            self._results[key] = state
            self._link(cells, state)
            return
        self._equate(self._results[key], state)

    def _equate(self, one: State, other: State) -> None:
        for x, y in zip(one, other, strict=True):
            if x != y:
                self.formula.equate(x, y)

    def _alike(self, cells: tuple[State, ...]) -> tuple[State, ...]:
        """Return the same for neighbourhoods that the rule cannot tell apart."""
        if self.space.symmetry != "outer-totalistic":
            return cells
        centre = self.space.centre
        return (cells[centre], *sorted(cells[:centre] + cells[centre + 1 :]))

    def _entry(self, entry: int) -> State:
        self.occurring[entry] = True
        return self.rule[entry]

    def _link(self, cells: tuple[State, ...], result: State) -> None:
        """Demand that the rule makes `result` of a neighbourhood with unseen cells."""
        counted = self.space.symmetry == "outer-totalistic"
        for entry, exclusion in self._by_count(cells) if counted else self._by_pattern(cells):
            for bit, wanted in zip(self._entry(entry), result, strict=True):
                self._imply(exclusion, bit, wanted)

    def _imply(self, unless: list[int], x: int, y: int) -> None:
        """Demand x = y unless one of the literals holds; leave out what holds anyway."""
        true = self.formula.true
        for p, q in ((x, -y), (-x, y)):
            clause = {*unless, p, q} - {-true}
            if true not in clause and not any(-literal in clause for literal in clause):
                self.formula.add(clause)

    def _by_pattern(self, cells: Sequence[State]) -> Iterator[tuple[int, list[int]]]:
        """Yield every entry that the cells allow, and literals of which one holds otherwise."""
        places: dict[State, int] = {}
        fixed = 0
        for state, weight in zip(cells, self.space.weights, strict=True):
            value = self._value(state)
            if value is None:
                places[state] = places.get(state, 0) + weight
            else:
                fixed += weight * value
        spelled = [
            [[-literal for literal in self.spelled(state, value)] for value in self._values]
            for state in places
        ]
        entry_of = self.space.entry_of
        for values in product(self._values, repeat=len(places)):
            pattern = fixed + sum(map(int.__mul__, values, places.values()))
            unless = [x for cell, value in zip(spelled, values, strict=True) for x in cell[value]]
            yield int(entry_of[pattern]), unless

    @property
    def _values(self) -> range:
        return range(self.space.states)

    def _by_count(self, cells: Sequence[State]) -> Iterator[tuple[int, list[int]]]:
        """The same by how many neighbours have each state."""
        centre = self.space.centre
        others = [state for place, state in enumerate(cells) if place != centre]
        columns = [self._count(others, value) for value in self._values[1:]]
        true = self.formula.true
        for entry in range(self.space.entries):
            pattern = self.space.examples[entry]
            value = int(self.space.digits[centre, pattern])
            unless = [-literal for literal in self.spelled(cells[centre], value)]
            for state, column in enumerate(columns, 1):
                number = int(self.space.counts[state, pattern])
                # At least this many, and not one more.
                unless += [-column[number], column[number + 1]]
            if true not in unless:
                yield entry, [literal for literal in unless if literal != -true]

    def _count(self, cells: Sequence[State], value: int) -> list[int]:
        """Return literals that say whether at least n of the cells have this state, n = 0, 1, …"""
        formula = self.formula
        literals = []
        for state in cells:
            equal = formula.true
            for bit in self.spelled(state, value):
                equal = formula.and_(equal, bit)
            literals.append(equal)
        key = tuple(sorted(literals, key=lambda x: (abs(x) == formula.true, x)))
        if key not in self._sorted:
            self._sorted[key] = [formula.true, *self._sort(list(key)), -formula.true]
        return self._sorted[key]

    def _sort(self, column: list[int]) -> list[int]:
        """Return as many literals, those that hold first: Batcher's odd-even merge sort (1968)."""
        size = 1 << (len(column) - 1).bit_length()
        column = column + [-self.formula.true] * (size - len(column))
        p = size // 2
        while p:
            q, r, d = size // 2, 0, p
            while d:
                for i in range(size - d):
                    if i & p == r:
                        x, y = column[i], column[i + d]
                        column[i] = -self.formula.and_(-x, -y)
                        column[i + d] = self.formula.and_(x, y)
                d, q, r = q - p, q // 2, p
            p //= 2
        return column

    def read(self, held: set[int]) -> Table:
        """Return the table of an assignment, given by the literals that hold."""
        return np.array(
            [sum((bit in held) << place for place, bit in enumerate(each)) for each in self.rule]
        )

    def literals(self, table: Table) -> list[int]:
        """Return literals that all hold if the entries that occur are a table's."""
        return [
            literal
            for entry in np.flatnonzero(self.occurring).tolist()
            for literal in self.spelled(self.rule[entry], int(table[entry]))
        ]

    def differs(self, entry: int, state: int) -> list[int]:
        """Return a clause: an entry does not have this state."""
        return [-literal for literal in self.spelled(self.rule[entry], state)]


@dataclass(frozen=True)
class Solved:
    """A rule that explains all, and how far it is shown that no other one does."""

    table: Table
    """UNKNOWN for entries that no cell depends on."""
    determined: npt.NDArray[np.bool_]
    """Entries that every rule that explains all has in common."""
    open: npt.NDArray[np.bool_]
    """Entries in which another one, that explains all, differs. The rest is undecided."""
    second: Table | None
    """Another rule that explains all and differs in an entry that occurs, if one was found."""


def solve(
    recording: Recording,
    space: Space,
    boundary: str,
    gap: int,
    known: Table,
    guess: Table | None = None,
    deadline: Deadline = NEVER,
    update: Update = lambda done, total, remark: None,
    decide: bool = True,
) -> Solved | tuple[int, int]:
    """Find a rule that has the entries `known`, and, to `decide`, whether another one does as well.

    `guess` is a rule to try first. Returns the recording and frame up to which no rule explains
    all, if none does. Raises StoppedError if `deadline` passes, or `update` raises it, before
    there is a rule; later it ends the questions about its entries.
    """
    with Formula() as formula:
        encoding = Encoding(formula, space, boundary, gap, known)
        what = "frames explained"
        total = recording.frames.shape[0] * (recording.frames.shape[1] - 1)
        for number, frames in enumerate(recording.frames):
            for frame in range(1, len(frames)):
                encoding.explain(frames, number, frame)
                if guess is not None:
                    formula.prefer(encoding.literals(guess))
                done = number * (len(frames) - 1) + frame - 1
                if not _ask(formula, [], deadline, partial(update, done, total, what)):
                    return number, frame
                update(done + 1, total, what)
        table = encoding.read(formula.true_literals())
        if guess is not None:
            wanted = encoding.literals(guess)
            if _ask(formula, wanted, deadline, partial(update, total, total, what)):
                table = guess
        if not decide:
            none = np.zeros(len(table), np.bool_)
            return Solved(table, none, none, None)
        return _decide(encoding, table, deadline, update)


def _ask(
    formula: Formula, assumptions: list[int], deadline: Deadline, pause: Callable[[], object]
) -> bool:
    """Ask until there is an answer. Raises StoppedError if there is no time left."""
    while True:
        answer = formula.solve(assumptions, deadline, FIRST_CONFLICTS * 10)
        if answer is not None:
            return answer
        if deadline.passed:
            raise StoppedError("the time limit passed before a rule was found")
        pause()


def _decide(encoding: Encoding, table: Table, deadline: Deadline, update: Update) -> Solved:
    """Ask of each entry whether it may be another one."""
    formula = encoding.formula
    occurring = encoding.occurring
    determined = np.zeros(len(table), np.bool_)
    open_ = np.zeros(len(table), np.bool_)
    second: Table | None = None
    left = np.flatnonzero(occurring).tolist()
    conflicts = FIRST_CONFLICTS
    try:
        while left and not deadline.passed:
            undecided = []
            for entry in left:
                if open_[entry]:
                    continue
                answer = _other(encoding, entry, int(table[entry]), conflicts, deadline)
                if answer is None:
                    undecided.append(entry)
                elif answer:
                    another = encoding.read(formula.true_literals())
                    open_ |= occurring & (another != table)
                    second = another
                else:
                    determined[entry] = True
                    for literal in encoding.spelled(encoding.rule[entry], int(table[entry])):
                        formula.add([literal])
                unknown = int(occurring.sum() - determined.sum() - open_.sum())
                update(int(occurring.sum()) - unknown, int(occurring.sum()), "entries decided")
            if len(undecided) > 0.8 * len(left):
                conflicts *= 2
            left = undecided
    except StoppedError:
        pass
    unused = ~occurring
    if second is not None:
        second = np.where(unused, UNKNOWN, second)
    return Solved(np.where(unused, UNKNOWN, table), determined, open_, second)


def _other(
    encoding: Encoding, entry: int, state: int, conflicts: int, deadline: Deadline
) -> bool | None:
    """Whether all can be explained with another state in an entry; None if it takes too long."""
    formula = encoding.formula
    clause = encoding.differs(entry, state)
    if len(clause) == 1:
        return formula.solve(clause, deadline, conflicts)
    chosen = formula.variable()
    formula.add([-chosen, *clause])
    return formula.solve([chosen], deadline, conflicts)
