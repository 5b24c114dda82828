"""Recordings as formulas for a SAT solver.

Variables are the bits of the table's entries and of unseen cells. A cell that follows from seen
cells in one step *is* the variable of an entry. For any other cell there is a clause for each
pattern that its unseen neighbours allow: if the neighbours have this pattern, the cell is what the
pattern's entry says. For outer-totalistic rules the neighbours in each state are sorted, since only
their number matters. A cell that may be in a hidden state has some unknown bits.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from difflogic.identification.inquiry import Inquiry
from difflogic.identification.rules import UNSEEN, RuleTable, within
from difflogic.proof.satisfiability import Formula
from difflogic.system.array_types import Flags

StateBits = tuple[int, ...]
"""A cell's bits, lowest first: literals of the formula."""
Key = tuple[int, int, int, int]
"""A cell: recording, step, row and column."""

ENTRIES_AT_ONCE = 1000
"""Entries to encode between two looks at the clock."""


class Clauses:
    """A formula about a rule and the cells of a recording."""

    def __init__(self, formula: Formula, inquiry: Inquiry, known: RuleTable) -> None:
        """`known` is the table by entry; UNSEEN entries become variables."""
        self.formula = formula
        self.space = inquiry.space
        self.boundary = inquiry.boundary
        self.gap = inquiry.gap
        self._deadline = inquiry.deadline
        self._frames = inquiry.recording.frames
        self.occurring: Flags = known != UNSEEN
        """Entries that some cell may depend on."""
        self.rule: list[StateBits] = []
        for number, state in enumerate(known.tolist()):
            if number % ENTRIES_AT_ONCE == 0:
                self._deadline.require("a rule was found")
            self.rule.append(self.new_state() if state == UNSEEN else self.constant(state))
        self._cells: dict[Key, StateBits] = {}
        self._results: dict[tuple[StateBits, ...], StateBits] = {}
        self._looks: dict[StateBits, StateBits] = {}
        self._sorted: dict[tuple[int, ...], list[int]] = {}

    def constant(self, state: int) -> StateBits:
        return tuple(self.formula.constant(state >> bit & 1) for bit in range(self.space.bits))

    def new_state(self, look: int = UNSEEN) -> StateBits:
        """Return a new variable state; it looks like `look`, unless that is UNSEEN."""
        looks = self.space.looks_like or range(self.space.states)
        allowed = [state for state, each in enumerate(looks) if look in (UNSEEN, each)]
        bits = []
        for place in range(self.space.bits):
            values = {state >> place & 1 for state in allowed}
            both = len(values) > 1
            bits.append(self.formula.variable() if both else self.formula.constant(values.pop()))
        found = tuple(bits)
        for wrong in set(range(1 << self.space.bits)) - set(allowed):
            self._require_clause(self.differs(found, wrong))
        return found

    def _require_clause(self, clause: Iterable[int]) -> None:
        """Add a clause without false literals, unless it always holds."""
        true = self.formula.true
        literals = set(clause)
        if true not in literals and not any(-literal in literals for literal in literals):
            self.formula.add(literals - {-true})

    def equals(self, state: StateBits, value: int) -> list[int]:
        """Return literals that all hold if a state has this value."""
        return [bit if value >> place & 1 else -bit for place, bit in enumerate(state)]

    def differs(self, state: StateBits, value: int) -> list[int]:
        """Return a clause: a state does not have this value."""
        return [-literal for literal in self.equals(state, value)]

    def _value(self, state: StateBits) -> int | None:
        """Return the value of a constant state, else None."""
        true = self.formula.true
        if any(abs(bit) != true for bit in state):
            return None
        return sum((bit == true) << place for place, bit in enumerate(state))

    def explain(self, number: int, frame: int, y: int, x: int) -> None:
        """Require that a cell of recording `number` follows from the frame before."""
        # Cells wait on a stack of their own for those that they depend on, maybe many steps before.
        waiting = [self._explained(number, frame * self.gap, y, x)]
        while waiting:
            self._deadline.require("a rule was found")
            if (key := next(waiting[-1], None)) is None:
                waiting.pop()
            elif key not in self._cells:
                waiting.append(self._made(key))

    def _explained(self, number: int, step: int, y: int, x: int) -> Iterator[Key]:
        """Yield keys of cells to make first, then require that this one follows from others."""
        state = yield from self._cell(number, step, y, x)
        if self._value(state) is not None:  # else `_made` required it
            self.require((yield from self._around(number, step - 1, y, x)), state)

    def _around(
        self, number: int, step: int, y: int, x: int
    ) -> Generator[Key, None, tuple[StateBits, ...]]:
        cells = []
        for dy, dx in self.space.offsets:
            look = self.space.private and (dy, dx) != (0, 0)
            seen = self._seen(number, step, y + dy, x + dx) if look else UNSEEN
            if seen != UNSEEN:
                cells.append(self.constant(seen))
                continue
            state = yield from self._cell(number, step, y + dy, x + dx)
            cells.append(self._look(state) if look else state)
        if self.space.memory:
            cells.append((yield from self._cell(number, step - 1, y, x)))
        return tuple(cells)

    def _seen(self, number: int, step: int, y: int, x: int) -> int:
        place = within(y, x, self._frames.shape[2:], self.boundary)
        if place is None:
            return 0 if self.boundary == "zero" else UNSEEN
        frame, between = divmod(step, self.gap)
        return UNSEEN if between else int(self._frames[number, frame, *place])

    def _look(self, state: StateBits) -> StateBits:
        """Return the lowest state that looks like `state`."""
        if state not in self._looks:
            looks = self.space.looks_like
            value = self._value(state)
            if value is not None:
                found = self.constant(looks.index(looks[value]))
            else:
                found = self.new_state()
                for value, look in enumerate(looks):
                    for literal in self.equals(found, looks.index(look)):
                        self._require_clause([*self.differs(state, value), literal])
            self._looks[state] = found
        return self._looks[state]

    def _cell(self, number: int, step: int, y: int, x: int) -> Generator[Key, None, StateBits]:
        """Return the state of a cell `step` steps after the start, once it is made."""
        place = within(y, x, self._frames.shape[2:], self.boundary)
        if place is None and self.boundary == "zero":
            return self.constant(0)
        key = number, step, *(place or (y, x))
        yield key
        return self._cells[key]

    def _made(self, key: Key) -> Iterator[Key]:
        """Yield keys of cells to make first, then make the state of this one."""
        number, step, y, x = key
        seen = self._seen(*key)
        start = (
            step <= self.space.memory or within(y, x, self._frames.shape[2:], self.boundary) is None
        )
        if seen == UNSEEN and not start:
            found = self._next((yield from self._around(number, step - 1, y, x)))
        else:
            found = self.new_state(seen)
            if not start and self._value(found) is None:
                self.require((yield from self._around(number, step - 1, y, x)), found)
        self._cells[key] = found

    def _next(self, cells: tuple[StateBits, ...]) -> StateBits:
        """Return the state that follows a neighbourhood."""
        known = [value for value in map(self._value, cells) if value is not None]
        if len(known) == len(cells):
            pattern = self.space.weights[np.arange(len(known)), known].sum()
            return self._entry(int(self.space.entry_of[pattern]))
        key = self._alike(cells)
        if key not in self._results:
            self._results[key] = result = self.new_state()
            self._link(cells, result)
        return self._results[key]

    def require(self, cells: tuple[StateBits, ...], state: StateBits) -> None:
        """Require that `state` follows a neighbourhood."""
        if any(self._value(cell) is None for cell in cells):
            key = self._alike(cells)
            if key not in self._results:
                self._results[key] = state
                self._link(cells, state)
                return
        for x, y in zip(self._next(cells), state, strict=True):
            if x != y:
                self.formula.equate(x, y)

    def _alike(self, cells: tuple[StateBits, ...]) -> tuple[StateBits, ...]:
        """Return the same key for neighbourhoods that the rule cannot tell apart."""
        if self.space.symmetry != "outer-totalistic":
            return cells
        centre = self.space.centre
        many = self.space.cells
        others = sorted(cells[:centre] + cells[centre + 1 : many])
        return (cells[centre], *others, *cells[many:])

    def _entry(self, entry: int) -> StateBits:
        self.occurring[entry] = True
        return self.rule[entry]

    def _link(self, cells: tuple[StateBits, ...], result: StateBits) -> None:
        """Require that `result` follows a neighbourhood with unseen cells."""
        counted = self.space.symmetry == "outer-totalistic"
        for entry, unless in self._by_count(cells) if counted else self._by_pattern(cells):
            for bit, wanted in zip(self._entry(entry), result, strict=True):
                self._require_clause([*unless, bit, -wanted])
                self._require_clause([*unless, -bit, wanted])

    def _by_pattern(self, cells: Sequence[StateBits]) -> Iterator[tuple[int, list[int]]]:
        """Yield every entry that the cells allow, with a clause: the entry is another one."""
        places: dict[StateBits, int] = {}
        fixed = 0
        for state, weight in zip(cells, self.space.weights[:, 1].tolist(), strict=True):
            value = self._value(state)
            if value is None:
                places[state] = places.get(state, 0) + weight
            else:
                fixed += weight * value
        states = range(self.space.states)
        clauses = [[self.differs(state, value) for value in states] for state in places]
        entry_of = self.space.entry_of
        for values in product(states, repeat=len(places)):
            pattern = fixed + sum(map(int.__mul__, values, places.values()))
            unless = [x for cell, value in zip(clauses, values, strict=True) for x in cell[value]]
            yield int(entry_of[pattern]), unless

    def _by_count(self, cells: Sequence[StateBits]) -> Iterator[tuple[int, list[int]]]:
        """Yield the same as `_by_pattern`, by how many neighbours have each state."""
        centre = self.space.centre
        others = [cells[place] for place in range(self.space.cells) if place != centre]
        columns = [self._count(others, value) for value in range(1, self.space.states)]
        true = self.formula.true
        for entry in range(self.space.entries):
            pattern = self.space.examples[entry]
            unless = list[int]()
            for place in (centre, *range(self.space.cells, len(cells))):
                unless += self.differs(cells[place], int(self.space.digits[place, pattern]))
            for state, column in enumerate(columns, 1):
                number = int(self.space.counts[state, pattern])
                # At least this many, and not one more.
                unless += [-column[number], column[number + 1]]
            if true not in unless:
                yield entry, [literal for literal in unless if literal != -true]

    def _count(self, cells: Sequence[StateBits], value: int) -> list[int]:
        """Return literals: whether at least 0, 1, … of the cells have this state."""
        formula = self.formula
        literals = []
        for state in cells:
            equal = formula.true
            for bit in self.equals(state, value):
                equal = formula.and_(equal, bit)
            literals.append(equal)
        key = tuple(sorted(literals, key=lambda x: (abs(x) == formula.true, x)))
        if key not in self._sorted:
            self._sorted[key] = [formula.true, *self.sort(list(key)), -formula.true]
        return self._sorted[key]

    def sort(self, column: list[int]) -> list[int]:
        """Return as many literals, true ones first: Batcher's odd-even merge sort (1968)."""
        size = 1 << (len(column) - 1).bit_length()
        column = column + [-self.formula.true] * (size - len(column))
        p = size // 2
        while p:
            q = size // 2
            r = 0
            d = p
            while d:
                for i in range(size - d):
                    if i & p == r:
                        x = column[i]
                        y = column[i + d]
                        column[i] = -self.formula.and_(-x, -y)
                        column[i + d] = self.formula.and_(x, y)
                d, q, r = q - p, q // 2, p
            p //= 2
        return column

    def read(self, held: set[int]) -> RuleTable:
        """Return the table of an assignment, given by its true literals."""
        return np.array([self.value(each, held) for each in self.rule])

    @staticmethod
    def value(state: StateBits, held: set[int]) -> int:
        return sum((bit in held) << place for place, bit in enumerate(state))

    def literals(self, table: RuleTable) -> list[int]:
        """Return literals that all hold if the rule has this table."""
        return [
            literal
            for state, value in zip(self.rule, table.tolist(), strict=True)
            for literal in self.equals(state, value)
        ]

    def fix(self, entry: int, state: int) -> None:
        """Require that an entry has a state."""
        for literal in self.equals(self.rule[entry], state):
            self.formula.add([literal])
