"""Finds rules by a SAT solver, for recordings with gaps, unseen cells or an unknown boundary.

It then asks of each entry whether a rule with another state there explains the recording, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from difflogic.identification.clauses import Clauses
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.rules import UNSEEN, RuleTable, Space, spread_states
from difflogic.identification.table_circuit import build, filled
from difflogic.proof.satisfiability import Formula
from difflogic.system.array_types import Flags, Int64s
from difflogic.system.errors import OutOfTimeError
from difflogic.system.work import tell

FIRST_CONFLICTS = 50
"""Conflicts to spend on a question before turning to the next. The limit then grows, since learned
clauses make all questions easier."""

LOOKED_AT = 400
REFUTING_CELLS = 16
"""Of the cells that refute a rule: how many to compare, and how many of those to require."""


@dataclass(frozen=True)
class Solved:
    """A rule that explains a recording, and which of its entries are shown to be unique."""

    table: RuleTable
    """UNKNOWN for entries that no cell depends on."""
    determined: Flags
    """Entries that are the same in every rule that explains the recording."""
    open: Flags
    """Entries that differ in another rule that explains it. Others that occur are undecided."""
    second: RuleTable | None
    """Another rule that explains it and differs in an entry that occurs, if one was found."""


def solve(
    inquiry: Inquiry, known: RuleTable, guess: RuleTable | None = None, *, decide: bool = True
) -> Solved | None:
    """Find a rule with the entries `known`, or None if no rule explains the recording.

    With `decide`, find out which entries are unique. `guess` is a rule to try first. Raises
    OutOfTimeError if the deadline passes before there is a rule; later,
    entries stay undecided.
    """
    recording = inquiry.recording
    space = inquiry.space
    periodic = inquiry.boundary == "periodic"
    with Formula() as formula:
        clauses = Clauses(formula, inquiry, known)
        seen = recording.complete and inquiry.boundary != "unknown"
        if seen and space.private and inquiry.gap == 1:
            search: _Search = _Traces(clauses, inquiry)
        elif seen and not (space.looks_like or space.memory) and inquiry.gap > 1:
            search = _Lazy(clauses, inquiry)
        else:
            search = _Search(clauses, inquiry)
            search.explain_all()
        preferred = [] if guess is None else clauses.literals(guess)
        formula.prefer(preferred)
        table = search.find(preferred) if preferred else None
        if table is None:
            table = search.find()
        if table is None:
            return None
        # Otherwise the edge names the states.
        if space.looks_like and space.exchangeable and periodic:
            table = _renamed(space, table)
            for entry in _pins(inquiry, table):
                clauses.fix(entry, int(table[entry]))
        if decide:
            return _decide(search, table)
        none = np.zeros(len(table), np.bool_)
        return Solved(np.where(search.occurring(table), table, UNSEEN), none, none, None)


def _renamed(space: Space, table: RuleTable) -> RuleTable:
    """Return the same rule with hidden states renamed so that fewest entries lead to them."""
    groups = [
        [s for s, each in enumerate(space.looks_like) if each == look]
        for look in set(space.looks_like)
    ]
    visible = len(groups)
    best = table
    for orders in product(*map(permutations, groups)):
        names = np.empty(space.states, np.int64)
        for group, order in zip(groups, orders, strict=True):
            names[group] = order
        found = space.renamed(table, names)
        if (found >= visible).sum() < (best >= visible).sum():
            best = found
    return best


def _pins(inquiry: Inquiry, table: RuleTable) -> Iterator[int]:
    """Yield entries that can keep their states, since renaming hidden states covers the others.

    There is one for each look of several states. Its neighbourhood was seen, and so was the look of
    its next state, so in every rule that explains the recording, the next state is one of these;
    renaming makes it any of them. The boundary is periodic.
    """
    recording = inquiry.recording
    space = inquiry.space
    looks = np.array(space.looks_like)
    alone = np.array([space.looks_like.count(look) == 1 for look in range(recording.states)])
    frames = recording.frames[:, :-1]
    following = recording.frames[:, 1:]
    clear = alone[frames]  # of cells that are seen; the patterns of others are UNSEEN
    around = frames if space.private else np.where(clear, frames, UNSEEN)
    patterns = spread_states(around, space, "periodic")
    seen = space.entry_of[patterns[clear & (patterns != UNSEEN) & (following != UNSEEN)]]
    pinned = set()
    for entry in np.unique(seen if inquiry.gap == 1 else []).astype(int).tolist():
        look = space.looks_like[table[entry]]
        if (looks == look).sum() > 1 and look not in pinned:
            pinned.add(look)
            yield entry


class _Search:
    """Finds rules that explain a recording."""

    def __init__(self, clauses: Clauses, inquiry: Inquiry) -> None:
        self.clauses = clauses
        self.frames = inquiry.recording.frames
        self.deadline = inquiry.deadline
        self.determined = np.zeros(clauses.space.entries, np.bool_)

    def explain_all(self) -> None:
        """Require that the rule explains all frames."""
        recordings, frames, height, _ = self.frames.shape
        # With memory, any rule explains the second frame: nothing is known before the first.
        first = 2 if self.clauses.space.memory and self.clauses.gap == 1 else 1
        total = recordings * (frames - first) * height
        rows = enumerate(np.ndindex(recordings, frames - first, height))
        for done, (number, frame, y) in rows:
            tell("rows encoded:", done, total)
            self.deadline.require("a rule was found")
            for x in np.flatnonzero(self.frames[number, frame + first, y] != UNSEEN).tolist():
                self.clauses.explain(number, frame + first, y, x)

    def occurring(self, table: RuleTable) -> Flags:
        """Return the entries that cells depend on, under this rule."""
        return self.clauses.occurring

    def refuted(self, table: RuleTable) -> bool:
        """Whether a rule fails to explain all. If so, require more of the next one."""
        return False

    def find(self, assumptions: Sequence[int] = ()) -> RuleTable | None:
        """Return a rule that explains all, or None. Raises OutOfTimeError."""
        while True:
            answer, table = self.ask(assumptions, 10 * FIRST_CONFLICTS)
            if answer is not None:
                return table
            self.deadline.require("a rule was found")

    def ask(
        self, assumptions: Sequence[int], conflicts: int
    ) -> tuple[bool | None, RuleTable | None]:
        """Return whether there is a rule (None if that takes too long), and the rule."""
        formula = self.clauses.formula
        while True:
            answer = formula.solve(assumptions, self.deadline, conflicts)
            entries = self.clauses.space.entries
            tell("entries determined:", int(self.determined.sum()), entries)
            if not answer:
                return answer, None
            table = self.clauses.read(formula.true_literals())
            if not self.refuted(table):
                return True, table


class _Lazy(_Search):
    """Requires cells only where a rule that was found turns out to be wrong.

    For frames without unseen cells, since the rule runs from each frame to the next.
    """

    def __init__(self, clauses: Clauses, inquiry: Inquiry) -> None:
        super().__init__(clauses, inquiry)
        space = clauses.space
        patterns = spread_states(self.frames[:, :-1], space, clauses.boundary)
        self._entries = space.entry_of[patterns]
        self._rng = np.random.default_rng(0)

    def _run(self, table: RuleTable) -> Iterator[Int64s]:
        """Yield the entries around all cells before each step, and then the last states."""
        space = self.clauses.space
        frames = self.frames[:, :-1]
        for _ in range(self.clauses.gap):
            entries = space.entry_of[spread_states(frames, space, self.clauses.boundary)]
            yield entries
            frames = table[entries]
        yield frames

    def occurring(self, table: RuleTable) -> Flags:
        *steps, _ = self._run(table)
        found = np.zeros(len(table), np.bool_)
        for entries in steps:
            found[entries.reshape(-1)] = True
        return found

    def refuted(self, table: RuleTable) -> bool:
        *_, ends = self._run(table)
        wrong = np.argwhere(ends != self.frames[:, 1:])
        if not len(wrong):
            return False
        some = wrong[self._rng.permutation(len(wrong))[:LOOKED_AT]]
        # Cells with few unknown entries exclude most rules: uniform areas come first.
        chosen = sorted(some.tolist(), key=self._undetermined)[:REFUTING_CELLS]
        for number, frame, y, x in chosen:
            self.clauses.explain(number, frame + 1, y, x)
        return True

    def _undetermined(self, cell: list[int]) -> int:
        """Return how many undetermined entries a cell depends on in the first step."""
        number, frame, y, x = cell
        _, _, height, width = self.frames.shape
        far = self.clauses.gap - 1
        reach = [(dy * k, dx * k) for dy, dx in self.clauses.space.offsets for k in (1, far)]
        found = {
            int(self._entries[number, frame, (y + dy) % height, (x + dx) % width])
            for dy, dx in reach
        }
        return sum(not self.determined[entry] for entry in found)


class _Traces(_Search):
    """Like `_Lazy`, for hidden states that neighbours do not see: each cell explains itself.

    There are no unseen cells, and frames are one step apart.
    """

    def __init__(self, clauses: Clauses, inquiry: Inquiry) -> None:
        super().__init__(clauses, inquiry)
        space = clauses.space
        frames = self.frames
        own = space.weights[space.centre]
        around = spread_states(frames, space, clauses.boundary) - own[frames]
        entries = space.entry_of[around[..., None] + own]
        self._entries = np.moveaxis(entries, 1, 0)
        """The entry for each state of a cell, shape (frames, recordings, height, width, states)."""

    def _possible(self, table: RuleTable) -> Iterator[Flags]:
        """Yield the possible states of cells in each frame, shape (…, height, width, states)."""
        looks = np.array(self.clauses.space.looks_like)
        states = np.arange(len(looks))
        seen = np.moveaxis(self.frames, 1, 0)[..., None]
        possible = looks == seen[0]
        yield possible
        for entries, look in zip(self._entries[:-1], seen[1:], strict=True):
            following = table[entries][..., None] == states
            possible = (following & possible[..., None]).any(axis=-2) & (looks == look)
            yield possible

    def occurring(self, table: RuleTable) -> Flags:
        found = np.zeros(len(table), np.bool_)
        for entries, possible in zip(self._entries[:-1], self._possible(table), strict=False):
            found[entries[possible]] = True
        return found

    def refuted(self, table: RuleTable) -> bool:
        for frame, possible in enumerate(self._possible(table)):
            wrong = np.argwhere(~possible.any(axis=-1))
            if len(wrong):
                for number, y, x in wrong[:REFUTING_CELLS].tolist():
                    self.clauses.explain(number, frame, y, x)
                return True
        return False


def _decide(search: _Search, table: RuleTable) -> Solved:
    """Find out of each entry that occurs whether it could have another state."""
    open_ = np.zeros(len(table), np.bool_)
    second = _try_others(search, table, open_)
    if search.clauses.space.looks_like:
        first, table = table, _smallest(search, table, open_)
        if second is not None and (second == table).all():
            second = first
        another = _try_others(search, table, open_)  # other entries may occur in this one
        second = another if second is None else second
    occurring = search.occurring(table)
    table = np.where(occurring, table, UNSEEN)
    return Solved(table, search.determined & occurring, open_ & occurring, second)


def _try_others(search: _Search, table: RuleTable, open_: Flags) -> RuleTable | None:
    """Ask of each entry that occurs in a rule, and is not known, for a rule with another state.

    Adds to the `open_` entries and those determined. Returns the last other rule that was found.
    """
    determined = search.determined
    second = None
    occurring = search.occurring(table)
    left = np.flatnonzero(occurring & ~determined & ~open_).tolist()
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
                    search.clauses.fix(entry, int(table[entry]))
            if len(undecided) > 0.8 * len(left):
                conflicts *= 2
            left = undecided
    except OutOfTimeError:
        pass
    return second


def _smallest(search: _Search, table: RuleTable, open_: Flags) -> RuleTable:
    """Return a rule whose open entries, one after the other, make circuits small if possible."""
    clauses = search.clauses
    space = search.clauses.space
    free = np.where(open_, UNSEEN, table)
    wanted = filled(space, free, build(space, free))[space.examples]
    chosen: list[int] = []
    try:
        for entry in np.flatnonzero(open_).tolist():
            if wanted[entry] != table[entry]:
                literals = clauses.equals(clauses.rule[entry], int(wanted[entry]))
                _, other = search.ask([*chosen, *literals], 10 * FIRST_CONFLICTS)
                table = table if other is None else other
            chosen += clauses.equals(clauses.rule[entry], int(table[entry]))
    except OutOfTimeError:
        pass
    return table


def _other(
    search: _Search, entry: int, state: int, conflicts: int
) -> tuple[bool | None, RuleTable | None]:
    """Ask whether a rule with another state in an entry explains all, and which one."""
    formula = search.clauses.formula
    clause = search.clauses.differs(search.clauses.rule[entry], state)
    if len(clause) == 1:
        return search.ask(clause, conflicts)
    chosen = formula.variable()
    formula.add([-chosen, *clause])
    return search.ask([chosen], conflicts)
