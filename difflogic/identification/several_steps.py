"""Rules of lines whose steps between two frames are not seen: tables that explain them.

If the tables of a space are few, all are tried; else a SAT solver finds some. A table explains the
frames or not, so its evidence is its prior probability. Where a solver finds only some tables, the
sum over all is estimated: each constraint is taken to leave one table in `states`, until as many
constraints as entries leave a single one.
Choosing the simplest table instead is wrong more often: see docs/notebook/identifying.md.
"""

from __future__ import annotations

import numpy as np

from difflogic.examples.film import Recording
from difflogic.identification.clauses import Clauses
from difflogic.identification.families import Density, Odds, Seen, States, Voting, sure
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.rules import UNSEEN, Space
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline
from difflogic.system.elementary import log_sum, logarithm

MOST_TABLES_TRIED = 2**13
"""Tables to try one by one."""
MOST_FOUND = 12
"""Tables for the solver to find."""
SOLVED_PATTERNS = 32
SOLVED_GAP = 2
"""Neighbourhoods of a rule, and steps, that the solver is asked about: more take too long, and add
little."""
CONFLICTS = 2_000
COMPARED_FIRST = 8
"""Neighbourhoods that are compared before the others."""


class SeveralSteps(Voting):
    """Rules of a space, `gap` steps from each neighbourhood to what follows it."""

    def __init__(self, space: Space, gap: int, seen: Seen, deadline: Deadline) -> None:
        self.states = space.states
        self._space = space
        self._gap = gap
        every = space.states**space.entries <= MOST_TABLES_TRIED
        self._tables = self._every(seen) if every else self._found(seen, deadline)
        numbers = sure(space.states, self._tables[:, None]).sum(axis=2)
        prior = Density(space.states).evidence(numbers)
        if not every:
            constraints = min(len(seen.after), space.entries)
            prior -= log_sum(prior) + logarithm(space.states) * constraints
        self.settle(prior, seen.edges)

    def _every(self, seen: Seen) -> States:
        entries = self._space.entries
        states = self.states
        self._tables = np.arange(states**entries)[:, None] // states ** np.arange(entries) % states
        for some in (slice(0, COMPARED_FIRST), slice(COMPARED_FIRST, None)):
            fits = self.values(seen.around[:, some]) == seen.after[some]
            self._tables = self._tables[fits.all(axis=1)]
        return self._tables

    def values(self, asked: States) -> States:
        space = self._space
        rules = np.arange(len(self._tables))[:, None, None]
        cells = np.broadcast_to(asked, (len(rules), *asked.shape))
        for _ in range(self._gap):
            width = cells.shape[1] - space.cells + 1
            patterns = sum(
                cells[:, place : place + width] * weight
                for place, weight in enumerate(space.weights[:, 1].tolist())
            )
            cells = self._tables[rules, space.entry_of[patterns]]
        return cells[:, 0]

    def entries(self, space: Space) -> Odds:
        """Return the odds of one step by entry of a space, shape (states, entries)."""
        tables = self._tables[:, self._space.entry_of[space.examples]]
        return self.votes(tables)

    def _found(self, seen: Seen, deadline: Deadline) -> States:
        """Let a solver find tables, each the first that it meets from a random one."""
        space = self._space
        rng = np.random.default_rng(0)
        (cells, n) = seen.around.shape
        after = seen.after
        if space.patterns > SOLVED_PATTERNS or self._gap > SOLVED_GAP:
            return np.empty((0, space.entries), np.int64)
        frames = np.full((n, 2, 1, cells), UNSEEN)
        frames[:, 0, 0] = seen.around.T
        frames[:, 1, 0, cells // 2] = after
        inquiry = Inquiry(Recording(frames, space.states), space, "unknown", self._gap)
        shares = np.bincount(after, minlength=space.states) / len(after)
        found = set()
        with Formula() as formula:
            clauses = Clauses(formula, inquiry, np.full(space.entries, UNSEEN))
            for number in range(n):
                clauses.explain(number, 1, 0, cells // 2)
            for _ in range(MOST_FOUND):
                wanted = rng.choice(space.states, space.entries, p=shares)
                formula.prefer(clauses.literals(wanted))
                if not formula.solve([], deadline, CONFLICTS):
                    break
                found.add(tuple(clauses.read(formula.true_literals()).tolist()))
        return np.array(sorted(found), np.int64).reshape(-1, space.entries)
