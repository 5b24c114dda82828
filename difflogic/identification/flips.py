"""Cells that were recorded wrongly: the fewest flips after which a rule explains a recording.

Entries with clear votes are taken as they are. Only cells of transitions that contradict the rule
may be flipped and, if that is not enough, those around them; all others are taken as recorded. That
no other cells would do with fewer is proved by leaving out all transitions that read or write one.

A SAT solver is asked for a rule without flips. If none exists, it names some cells: at least one
of them must be flipped. It is asked for at most one of them next, and so on: algorithm OLL, as in
RC2 (Ignatiev, Morgado and Marques-Silva 2019).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from difflogic.identification.clauses import Clauses, StateBits
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.rules import UNSEEN, RuleTable, Space, shifted, within
from difflogic.identification.votes import Votes, count, transitions
from difflogic.proof.satisfiability import Formula
from difflogic.system.array_types import Flags, Int64s
from difflogic.system.errors import ConfigError, OutOfTimeError
from difflogic.system.work import tell

CONFLICTS_PER_LOOK = 500
CELLS_PER_LOOK = 100
"""Conflicts, and cells to encode, between two looks at the clock."""
SURE_VOTES = 8
"""Lead in votes with which the state of an entry counts as right."""
TIMES_GROWN = 4
"""How often to add the surrounding cells if no flips suffice."""
MOST_PROVED = 3000
"""Transitions to look at, only to prove that fewer flips do not suffice."""


@dataclass(frozen=True)
class Flips:
    """A rule, and the cells that were recorded wrongly if it is right."""

    table: RuleTable
    flipped: Int64s
    """Recording, frame, row and column of each, shape (n, 4)."""
    least: int
    """Any rule with the same clear entries needs as many flips, by proof."""


def fewest_flips(inquiry: Inquiry, votes: Votes) -> Flips:
    """Find the rule by its most frequent next states, and the cells that were recorded wrongly.

    The solver chooses entries without clear votes. The gap is 1. Raises OutOfTimeError if there is
    no time, and ConfigError if flipping cells does not help.
    """
    recording = inquiry.recording
    space = inquiry.space
    boundary = inquiry.boundary
    *_, second, first = np.sort(votes.counts, axis=1).T
    table = np.where(first - second >= SURE_VOTES, votes.table, UNSEEN)
    entries, following = transitions(recording.frames, space, boundary)
    cells = _around(table[entries] != following, space, boundary)
    found = None
    least = 0
    for _ in range(1 + TIMES_GROWN):
        touched = _touched(cells, space, boundary)
        if found is not None and (least == len(found.flipped) or touched.sum() > MOST_PROVED):
            break
        try:
            flips = _fewest_of(inquiry, table, cells, touched)
        except OutOfTimeError:
            if found is None:
                raise
            break
        least = max(least, flips.least)
        if len(flips.table) and (found is None or len(flips.flipped) < len(found.flipped)):
            found = flips
        cells = _around(touched, space, boundary)
    if found is None:
        raise ConfigError(
            f"{recording.source}: flipping cells near the contradictions does not make the rule "
            "explain all frames: it may be a rule of another kind"
        )
    return replace(found, least=least)


def _around(wrong: Flags, space: Space, boundary: str) -> Flags:
    """Return all cells that the `wrong` transitions read or write."""
    recordings, frames, height, width = wrong.shape
    cells = np.zeros((recordings, frames + 1, height, width), np.bool_)
    cells[:, 1:] |= wrong
    for dy, dx in space.offsets:
        cells[:, :-1] |= shifted(wrong, (-dy, -dx), boundary).astype(np.bool_)
    return cells


def _touched(cells: Flags, space: Space, boundary: str) -> Flags:
    """Return the transitions that involve any of the cells."""
    touched = cells[:, 1:].copy()
    for offset in space.offsets:
        touched |= shifted(cells[:, :-1], offset, boundary).astype(np.bool_)
    return touched


def _fewest_of(inquiry: Inquiry, table: RuleTable, cells: Flags, touched: Flags) -> Flips:
    """Flip as few as possible of these cells; without a table if no flips of them suffice."""
    recording = inquiry.recording
    space = inquiry.space
    boundary = inquiry.boundary
    with Formula() as formula:
        noisy = _Noisy(Clauses(formula, inquiry, table), inquiry, cells)
        inside = touched & ~_touched(~cells, space, boundary)
        noisy.require(inside)
        noisy.solve()
        least = noisy.cost
        noisy.require(touched & ~inside)
        held = noisy.solve()
        if held is None:
            return Flips(table[:0], np.empty((0, 4), np.int64), least)
        frames = recording.frames.copy()
        for cell, state in noisy.states.items():
            frames[cell] = Clauses.value(state, held)
        seen = count(replace(recording, frames=frames), space, boundary).counts.any(axis=1)
        found = np.where(seen, noisy.clauses.read(held), UNSEEN)
    return Flips(found, np.argwhere(frames != recording.frames), least)


class _Noisy:
    """A formula about a recording in which as few cells as possible are wrong."""

    def __init__(self, clauses: Clauses, inquiry: Inquiry, cells: Flags) -> None:
        self.clauses = clauses
        self._inquiry = inquiry
        self._frames = inquiry.recording.frames
        formula = clauses.formula
        self.states: dict[tuple[int, ...], StateBits] = {}
        self.cost = 0
        """Cells that are wrong at least."""
        self._assumed: dict[int, tuple[list[int], int]] = {}
        """Literals that hold if no more cells are wrong, each with literals that say whether at
        least 1, 2, … of some are, and how many may be."""
        every = np.argwhere(cells)
        for done, cell in enumerate(map(tuple, every.tolist())):
            if done % CELLS_PER_LOOK == 0:
                self._look_at_clock(done, len(every), "cells encoded")
            self.states[cell] = clauses.new_state()
            same = formula.variable()
            for literal in clauses.equals(self.states[cell], int(self._frames[cell])):
                formula.add([-same, literal])
            self._assumed[same] = [-same], 0

    def _state(self, number: int, frame: int, y: int, x: int) -> StateBits:
        inside = within(y, x, self._frames.shape[2:], self._inquiry.boundary)
        if inside is None:
            return self.clauses.constant(0)
        cell = number, frame, *inside
        return self.states.get(cell) or self.clauses.constant(int(self._frames[cell]))

    def require(self, wanted: Flags) -> None:
        """Require that the rule makes these transitions."""
        every = np.argwhere(wanted).tolist()
        offsets = self._inquiry.space.offsets
        for done, (number, frame, y, x) in enumerate(every):
            if done % CELLS_PER_LOOK == 0:
                self._look_at_clock(done, len(every), "transitions encoded")
            around = tuple(self._state(number, frame, y + dy, x + dx) for dy, dx in offsets)
            self.clauses.require(around, self._state(number, frame + 1, y, x))

    def solve(self) -> set[int] | None:
        """Return the literals that hold in an assignment with the fewest wrong cells, if any."""
        formula = self.clauses.formula
        while not (
            answer := formula.solve([*self._assumed], self._inquiry.deadline, CONFLICTS_PER_LOOK)
        ):
            self._look_at_clock(self.cost, None, "wrong cells, at least")
            if answer is not None:
                core = formula.core()
                if not core:
                    return None
                self._relax(core)
        return formula.true_literals()

    def _relax(self, core: Iterable[int]) -> None:
        """Let one more cell be wrong, given assumptions that cannot all hold."""
        wrong = [-literal for literal in core]
        self.cost += 1
        for literal in wrong:
            column, number = self._assumed.pop(-literal)
            if number + 1 < len(column):
                self._assumed[-column[number + 1]] = column, number + 1
        column = self.clauses.sort(wrong)[: len(wrong)]
        self.clauses.formula.add([column[0]])
        if len(column) > 1:
            self._assumed[-column[1]] = column, 1

    def _look_at_clock(self, done: int, total: int | None, what: str) -> None:
        tell(f"{what}:", done, total)
        self._inquiry.deadline.require("the wrong cells were found")
