"""Rules of lines whose steps between two frames are not seen: tables that explain them.

If the tables of a space are few, all are tried; else a SAT solver finds some. A table explains the
frames or not, so its evidence is its prior probability. For tables that a solver finds, their sum
is estimated: each constraint leaves one of `states` possibilities, until every entry is known.
Choosing the simplest table instead is wrong more often: see docs/notebook/identifying.md.
"""

from __future__ import annotations

import numpy as np

from difflogic.identification.encoding import Encoding
from difflogic.identification.families import Density, Edges, Odds, States, sure
from difflogic.identification.recording import Question, Recording
from difflogic.identification.rules import UNKNOWN, Space
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

MOST_TRIED = 2**13
"""Tables to try one by one."""
MOST_FOUND = 12
"""Tables for the solver to find."""
MOST_PATTERNS, SOLVED_GAP = 32, 2
"""Neighbourhoods of a rule, and steps, that the solver is asked about: more take too long, and add
little."""
CONFLICTS = 2_000
FIRST = 8
"""Neighbourhoods that are compared before the others."""


class Deep:
    """Rules of a space, `gap` steps from each neighbourhood to what follows it."""

    def __init__(
        self,
        space: Space,
        gap: int,
        seen: States,
        after: States,
        edges: Edges | None,
        deadline: Deadline,
    ) -> None:
        self.space, self._gap = space, gap
        density = Density(space.states)
        every = space.states**space.entries <= MOST_TRIED
        tables = self._every(seen, after) if every else self._found(seen, after, deadline)
        self.evidence, self._tables = -np.inf, tables
        if not len(tables):
            return
        terms = density.evidence(sure(space.states, tables[:, None]).sum(axis=2))
        if not every:
            constraints = min(seen.shape[1], space.entries)
            terms -= np.logaddexp.reduce(terms) + np.log(space.states) * constraints
        if edges is not None:
            with np.errstate(divide="ignore"):
                terms += np.log(edges.shares(self._run(tables, edges.ways))).sum(axis=1)
        self.evidence = float(np.logaddexp.reduce(terms))
        if self.evidence > -np.inf:
            self._weights = np.exp(terms - self.evidence)

    def _every(self, seen: States, after: States) -> States:
        entries, states = self.space.entries, self.space.states
        tables = np.arange(states**entries)[:, None] // states ** np.arange(entries) % states
        for some in (slice(0, FIRST), slice(FIRST, None)):
            tables = tables[(self._run(tables, seen[:, some]) == after[some]).all(axis=1)]
        return tables

    def _run(self, tables: States, around: States) -> States:
        """Return what follows each neighbourhood, shape (tables, n)."""
        space, rules = self.space, np.arange(len(tables))[:, None, None]
        cells = np.broadcast_to(around, (len(tables), *around.shape))
        for _ in range(self._gap):
            width = cells.shape[1] - space.cells + 1
            patterns = sum(
                cells[:, place : place + width] * weight
                for place, weight in enumerate(space.weights[:, 1].tolist())
            )
            cells = tables[rules, space.entry_of[patterns]]
        return cells[:, 0]

    def odds(self, asked: States) -> Odds:
        ends = self._run(self._tables, asked)
        states = range(self.space.states)
        return np.stack([self._weights @ (ends == state) for state in states])

    def entries(self) -> Odds:
        """Return the probability of each state by entry of one step, shape (states, entries)."""
        states = range(self.space.states)
        return np.stack([self._weights @ (self._tables == state) for state in states])

    def _found(self, seen: States, after: States, deadline: Deadline) -> States:
        """Let a solver find tables, each the first that it meets from a random one."""
        space, rng = self.space, np.random.default_rng(0)
        if space.patterns > MOST_PATTERNS or self._gap > SOLVED_GAP:
            return np.empty((0, space.entries), np.int64)
        frames = np.full((seen.shape[1], 2, 1, len(seen)), UNKNOWN)
        frames[:, 0, 0], frames[:, 1, 0, len(seen) // 2] = seen.T, after
        question = Question(Recording(frames, space.states), space, "unknown", self._gap)
        shares = np.bincount(after, minlength=space.states) / len(after)
        found = set()
        with Formula() as formula:
            encoding = Encoding(formula, question, np.full(space.entries, UNKNOWN))
            for number in range(len(frames)):
                encoding.explain(number, 1, 0, len(seen) // 2)
            for _ in range(MOST_FOUND):
                wanted = rng.choice(space.states, space.entries, p=shares)
                formula.prefer(encoding.literals(wanted))
                if not formula.solve([], deadline, CONFLICTS):
                    break
                found.add(tuple(encoding.read(formula.true_literals()).tolist()))
        return np.array(sorted(found), np.int64).reshape(-1, space.entries)
