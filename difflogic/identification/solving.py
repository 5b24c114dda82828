"""Rules of recordings with gaps, unseen cells or an unknown boundary, by a SAT solver.

Variables are the bits of the table's entries and of the cells that were not seen. A cell one step
after cells that were seen *is* an entry's variable. For any other, clauses say for every pattern
that its unseen neighbours allow: if these are so, the cell is what the pattern's entry says. Of
outer-totalistic rules the neighbours in each state are sorted, so that their number is all that is
asked. Of cells that may be in a hidden state, what is seen leaves some of the bits unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from difflogic.identification.hidden import pins, renamed
from difflogic.identification.recording import Recording
from difflogic.identification.rules import UNKNOWN, Space, Table, spread_states, within
from difflogic.identification.synthesis import filled
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import StoppedError

State = tuple[int, ...]
"""A cell's bits, lowest first: literals of the formula."""

FIRST_CONFLICTS = 50
"""Of a question, before the others are asked; then more, as learned clauses make all easier."""

LOOKED_AT, CELLS_AT_ONCE = 400, 16
"""Of cells that refute a rule: how many are compared, and how many of them are then demanded."""

Update = Callable[[int, int | None, str], object]
"""Is told what is done, of how much, and a remark."""


class Encoding:
    """A formula about a rule and the cells that it was seen on."""

    def __init__(
        self,
        formula: Formula,
        space: Space,
        boundary: str,
        gap: int,
        known: Table,
        plain_start: bool = False,
    ) -> None:
        self.formula, self.space, self.boundary, self.gap = formula, space, boundary, gap
        self.plain_start = plain_start
        self.occurring = known != UNKNOWN
        """Entries that some cell may depend on."""
        self.rule: list[State] = [
            self.new_state() if state == UNKNOWN else self.constant(state)
            for state in known.tolist()
        ]
        self._cells: dict[tuple[int, int, int, int], State] = {}
        self._results: dict[tuple[State, ...], State] = {}
        self._looks: dict[State, State] = {}
        self._sorted: dict[tuple[int, ...], list[int]] = {}

    def constant(self, state: int) -> State:
        return tuple(self.formula.constant(state >> bit & 1) for bit in range(self.space.bits))

    def new_state(self, look: int = UNKNOWN) -> State:
        """Return an unknown state that looks like `look`, if that is known."""
        looks = self.space.looks or range(self.space.states)
        allowed = [state for state, each in enumerate(looks) if look in (UNKNOWN, each)]
        bits = []
        for place in range(self.space.bits):
            values = {state >> place & 1 for state in allowed}
            both = len(values) > 1
            bits.append(self.formula.variable() if both else self.formula.constant(values.pop()))
        found = tuple(bits)
        for wrong in set(range(1 << self.space.bits)) - set(allowed):
            self._demand(self.unlike(found, wrong))
        return found

    def _demand(self, clause: Iterable[int]) -> None:
        """Add a clause, if it does not hold anyway, without what cannot hold."""
        true, literals = self.formula.true, set(clause)
        if true not in literals and not any(-literal in literals for literal in literals):
            self.formula.add(literals - {-true})

    def unlike(self, state: State, value: int) -> list[int]:
        """Return a clause: a state does not have this value."""
        return [-literal for literal in self.spelled(state, value)]

    def spelled(self, state: State, value: int) -> list[int]:
        """Return literals that all hold if a state has this value."""
        return [bit if value >> place & 1 else -bit for place, bit in enumerate(state)]

    def _value(self, state: State) -> int | None:
        """Return a state that is known, else None."""
        true = self.formula.true
        if any(abs(bit) != true for bit in state):
            return None
        return sum((bit == true) << place for place, bit in enumerate(state))

    def explain(
        self, frames: npt.NDArray[np.int64], recording: int, frame: int, y: int, x: int
    ) -> None:
        """Demand that a cell of a recording's frames (n, height, width) follows from the others."""
        step = frame * self.gap
        state = self._cell(frames, recording, step, y, x)
        if self._value(state) is not None:  # else it is made by what follows
            self.require(self._around(frames, recording, step - 1, y, x), state)

    def _around(
        self, frames: npt.NDArray[np.int64], recording: int, step: int, y: int, x: int
    ) -> tuple[State, ...]:
        cells = []
        for offset in self.space.offsets:
            place = y + offset[0], x + offset[1]
            if not self.space.private or offset == (0, 0):
                cells.append(self._cell(frames, recording, step, *place))
                continue
            seen = self._seen(frames, step, *place)
            if seen == UNKNOWN:
                cells.append(self._look(self._cell(frames, recording, step, *place)))
            else:
                cells.append(self.constant(seen))
        return tuple(cells)

    def _seen(self, frames: npt.NDArray[np.int64], step: int, y: int, x: int) -> int:
        place = within(y, x, frames.shape[1:], self.boundary)
        if place is None:
            return 0 if self.boundary == "zero" else UNKNOWN
        frame, between = divmod(step, self.gap)
        return UNKNOWN if between else int(frames[frame, *place])

    def _look(self, state: State) -> State:
        """Return the lowest state that looks like one."""
        if state not in self._looks:
            looks, value = self.space.looks, self._value(state)
            if value is not None:
                found = self.constant(looks.index(looks[value]))
            else:
                found = self.new_state()
                for value, look in enumerate(looks):
                    for literal in self.spelled(found, looks.index(look)):
                        self._demand([*self.unlike(state, value), literal])
            self._looks[state] = found
        return self._looks[state]

    def _cell(
        self, frames: npt.NDArray[np.int64], recording: int, step: int, y: int, x: int
    ) -> State:
        """Return the state of a cell `step` steps after the start."""
        place = within(y, x, frames.shape[1:], self.boundary)
        if place is None and self.boundary == "zero":
            return self.constant(0)
        y, x = place or (y, x)
        key = recording, step, y, x
        if key not in self._cells:
            seen = self._seen(frames, step, y, x)
            start = place is None or not step
            if seen == UNKNOWN and not start:
                found = self._next(self._around(frames, recording, step - 1, y, x))
            elif start and self.plain_start and seen != UNKNOWN:
                found = self.constant(seen)
            else:
                found = self.new_state(seen)
                if not start and self._value(found) is None:
                    self.require(self._around(frames, recording, step - 1, y, x), found)
            self._cells[key] = found
        return self._cells[key]

    def _next(self, cells: tuple[State, ...]) -> State:
        """Return what the rule makes of a neighbourhood."""
        values = [self._value(state) for state in cells]
        known = [value for value in values if value is not None]
        if len(known) == len(cells):
            pattern = self.space.weights[np.arange(len(known)), known].sum()
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
        for p, q in ((x, -y), (-x, y)):
            self._demand([*unless, p, q])

    def _by_pattern(self, cells: Sequence[State]) -> Iterator[tuple[int, list[int]]]:
        """Yield every entry that the cells allow, and literals: one holds if it is another."""
        places: dict[State, int] = {}
        fixed = 0
        for state, weight in zip(cells, self.space.weights[:, 1].tolist(), strict=True):
            value = self._value(state)
            if value is None:
                places[state] = places.get(state, 0) + weight
            else:
                fixed += weight * value
        spelled = [[self.unlike(state, value) for value in self._values] for state in places]
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
            unless = self.unlike(cells[centre], value)
            for state, column in enumerate(columns, 1):
                number = int(self.space.counts[state, pattern])
                # At least this many, and not one more.
                unless += [-column[number], column[number + 1]]
            if true not in unless:
                yield entry, [literal for literal in unless if literal != -true]

    def _count(self, cells: Sequence[State], value: int) -> list[int]:
        """Return literals: whether at least 0, 1, … of the cells have this state."""
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
        """Return literals that all hold if the entries are a table's."""
        return [
            literal
            for entry in range(self.space.entries)
            for literal in self.spelled(self.rule[entry], int(table[entry]))
        ]

    def fix(self, entry: int, state: int) -> None:
        """Demand that an entry has a state."""
        for literal in self.spelled(self.rule[entry], state):
            self.formula.add([literal])

    def differs(self, entry: int, state: int) -> list[int]:
        """Return a clause: an entry does not have this state."""
        return self.unlike(self.rule[entry], state)


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
    plain_start: bool = False,
) -> Solved | None:
    """Find a rule that has the entries `known`, and, to `decide`, whether another one does as well.

    `guess` is a rule to try first. With `plain_start` no cell is in a hidden state at first.
    Returns None if no rule explains the recording. Raises StoppedError if `deadline` passes, or
    `update` raises it, before there is a rule; later it ends the questions about its entries.
    """
    with Formula() as formula:
        encoding = Encoding(formula, space, boundary, gap, known, plain_start)
        seen = recording.complete and boundary != "unknown"
        if seen and space.private and gap == 1:
            search: _Search = _Traces(encoding, recording, deadline, update)
        elif seen and not space.looks and gap > 1:
            search = _Lazy(encoding, recording, deadline, update)
        else:
            search = _Search(encoding, recording, deadline, update)
            search.explain_all()
        wanted = [] if guess is None else encoding.literals(guess)
        formula.prefer(wanted)
        table = search.find(wanted) if wanted else None
        if table is None:
            table = search.find()
        if table is None:
            return None
        if space.looks and not plain_start and boundary == "periodic":
            # Else start or edge have given names to states.
            table = renamed(space, table)
            for entry in pins(recording, space, gap, table):
                encoding.fix(entry, int(table[entry]))
        occurring = search.occurring(table)
        if decide:
            return _decide(search, table, occurring)
        none = np.zeros(len(table), np.bool_)
        return Solved(np.where(occurring, table, UNKNOWN), none, none, None)


class _Search:
    """Asks for rules that explain a recording."""

    def __init__(
        self, encoding: Encoding, recording: Recording, deadline: Deadline, update: Update
    ) -> None:
        self.encoding, self.frames = encoding, recording.frames
        self.deadline, self.update = deadline, update
        self.determined = np.zeros(encoding.space.entries, np.bool_)

    def explain_all(self) -> None:
        """Demand that all frames are explained."""
        recordings, frames, height, _ = self.frames.shape
        total = recordings * (frames - 1) * height
        for done, index in enumerate(np.ndindex(recordings, frames - 1, height)):
            number, frame, y = index
            self.update(done, total, "rows encoded")
            self._check_time()
            for x in np.flatnonzero(self.frames[number, frame + 1, y] != UNKNOWN).tolist():
                self.encoding.explain(self.frames[number], number, frame + 1, y, x)

    def occurring(self, table: Table) -> npt.NDArray[np.bool_]:
        """Return the entries that cells depend on, if the rule is this."""
        return self.encoding.occurring

    def refuted(self, table: Table) -> bool:
        """Return whether a rule does not explain all; if so, something new is demanded."""
        return False

    def find(self, assumptions: Sequence[int] = ()) -> Table | None:
        """Return a rule that explains all, or None. Raises StoppedError."""
        while True:
            answer, table = self.ask(assumptions, 10 * FIRST_CONFLICTS)
            if answer is not None:
                return table
            self._check_time()

    def _check_time(self) -> None:
        if self.deadline.passed:
            raise StoppedError("the time limit passed before a rule was found")

    def ask(self, assumptions: Sequence[int], conflicts: int) -> tuple[bool | None, Table | None]:
        """Return whether there is a rule, None if that takes too long, and the rule."""
        formula = self.encoding.formula
        while True:
            answer = formula.solve(assumptions, self.deadline, conflicts)
            entries = self.encoding.space.entries
            self.update(int(self.determined.sum()), entries, "entries determined")
            if not answer:
                return answer, None
            table = self.encoding.read(formula.true_literals())
            if not self.refuted(table):
                return True, table


class _Lazy(_Search):
    """Demands what cells show only where a rule that was found turns out to be wrong.

    For frames in which all is seen, as rules can be run from one to the next.
    """

    def __init__(
        self, encoding: Encoding, recording: Recording, deadline: Deadline, update: Update
    ) -> None:
        super().__init__(encoding, recording, deadline, update)
        space = encoding.space
        patterns = spread_states(self.frames[:, :-1], space, encoding.boundary)
        self._entries = space.entry_of[patterns]
        self._rng = np.random.default_rng(0)

    def _run(self, table: Table) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the entries around all cells in each step that is not seen, and the ends."""
        space, frames = self.encoding.space, self.frames[:, :-1]
        for _ in range(self.encoding.gap):
            entries = space.entry_of[spread_states(frames, space, self.encoding.boundary)]
            yield entries
            frames = table[entries]
        yield frames

    def occurring(self, table: Table) -> npt.NDArray[np.bool_]:
        *steps, _ = self._run(table)
        found = np.zeros(len(table), np.bool_)
        for entries in steps:
            found[entries.reshape(-1)] = True
        return found

    def refuted(self, table: Table) -> bool:
        *_, ends = self._run(table)
        wrong = np.argwhere(ends != self.frames[:, 1:])
        if not len(wrong):
            return False
        some = wrong[self._rng.permutation(len(wrong))[:LOOKED_AT]]
        # Few unknown entries exclude most: cells in areas that are all alike come first.
        for cell in sorted(some.tolist(), key=self._unknown)[:CELLS_AT_ONCE]:
            number, frame, y, x = cell
            self.encoding.explain(self.frames[number], number, frame + 1, y, x)
        return True

    def _unknown(self, cell: list[int]) -> int:
        """Return how many undetermined entries a cell depends on in the first step."""
        number, frame, y, x = cell
        _, _, height, width = self.frames.shape
        far = self.encoding.gap - 1
        reach = [(dy * k, dx * k) for dy, dx in self.encoding.space.offsets for k in (1, far)]
        found = {
            int(self._entries[number, frame, (y + dy) % height, (x + dx) % width])
            for dy, dx in reach
        }
        return sum(not self.determined[entry] for entry in found)


class _Traces(_Search):
    """The same for states that are not seen of neighbours: each cell then explains itself.

    All else must be seen, one step apart.
    """

    def __init__(
        self, encoding: Encoding, recording: Recording, deadline: Deadline, update: Update
    ) -> None:
        super().__init__(encoding, recording, deadline, update)
        space, frames = encoding.space, self.frames
        own = space.weights[space.centre]
        around = spread_states(frames, space, encoding.boundary) - own[frames]
        entries = space.entry_of[around[..., None] + own]
        self._entries = np.moveaxis(entries, 1, 0)
        """The entry for each state of a cell, shape (frames, recordings, height, width, states)."""

    def _possible(self, table: Table) -> Iterator[npt.NDArray[np.bool_]]:
        """Yield which states cells may have in each frame, shape (…, height, width, states)."""
        looks = np.array(self.encoding.space.looks)
        states = np.arange(len(looks))
        seen = np.moveaxis(self.frames, 1, 0)[..., None]
        possible = (states if self.encoding.plain_start else looks) == seen[0]
        yield possible
        for entries, look in zip(self._entries[:-1], seen[1:], strict=True):
            following = table[entries][..., None] == states
            possible = (following & possible[..., None]).any(axis=-2) & (looks == look)
            yield possible

    def occurring(self, table: Table) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(table), np.bool_)
        for entries, possible in zip(self._entries[:-1], self._possible(table), strict=False):
            found[entries[possible]] = True
        return found

    def refuted(self, table: Table) -> bool:
        for frame, possible in enumerate(self._possible(table)):
            wrong = np.argwhere(~possible.any(axis=-1))
            if len(wrong):
                for number, y, x in wrong[:CELLS_AT_ONCE].tolist():
                    self.encoding.explain(self.frames[number], number, frame, y, x)
                return True
        return False


def _decide(search: _Search, table: Table, occurring: npt.NDArray[np.bool_]) -> Solved:
    """Ask of each entry that occurs whether it may be another one."""
    encoding, determined = search.encoding, search.determined
    open_ = np.zeros(len(table), np.bool_)
    second: Table | None = None
    left = np.flatnonzero(occurring).tolist()
    conflicts = FIRST_CONFLICTS
    try:
        while left and not search.deadline.passed:
            undecided = []
            for entry in left:
                if open_[entry]:
                    continue
                answer, another = _other(search, entry, int(table[entry]), conflicts)
                if answer is None:
                    undecided.append(entry)
                elif another is not None:
                    open_ |= occurring & (another != table)
                    second = another
                else:
                    determined[entry] = True
                    encoding.fix(entry, int(table[entry]))
            if len(undecided) > 0.8 * len(left):
                conflicts *= 2
            left = undecided
    except StoppedError:
        pass
    if encoding.space.looks:
        first, table = table, _smallest(search, table, open_)
        if second is not None and (second == table).all():
            second = first
        occurring = search.occurring(table)
        determined, open_ = determined & occurring, open_ & occurring
    return Solved(np.where(occurring, table, UNKNOWN), determined & occurring, open_, second)


def _smallest(search: _Search, table: Table, open_: npt.NDArray[np.bool_]) -> Table:
    """Return a rule whose open entries are, one after the other, as makes circuits small."""
    encoding, space = search.encoding, search.encoding.space
    wanted = filled(space, np.where(open_, UNKNOWN, table))[space.examples]
    try:
        for entry in np.flatnonzero(open_).tolist():
            if wanted[entry] != table[entry]:
                literals = encoding.spelled(encoding.rule[entry], int(wanted[entry]))
                _, other = search.ask(literals, 10 * FIRST_CONFLICTS)
                table = table if other is None else other
            encoding.fix(entry, int(table[entry]))
    except StoppedError:
        pass
    return table


def _other(
    search: _Search, entry: int, state: int, conflicts: int
) -> tuple[bool | None, Table | None]:
    """Ask whether all can be explained with another state in an entry, and by which rule."""
    formula = search.encoding.formula
    clause = search.encoding.differs(entry, state)
    if len(clause) == 1:
        return search.ask(clause, conflicts)
    chosen = formula.variable()
    formula.add([-chosen, *clause])
    return search.ask([chosen], conflicts)
