"""Rules of recordings with wrong cells: by votes, and then the fewest cells that must be wrong.

The rule is what follows each entry most often. A MaxSAT solver (RC2, Ignatiev, Morgado and
Marques-Silva 2019) then flips as few cells as possible so that this rule explains all frames. Only
cells of transitions that contradict the rule are looked at; all others are taken as recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.identification.recording import Recording
from difflogic.identification.rules import UNKNOWN, Space, Table, shifted
from difflogic.identification.solving import Encoding, State, Update
from difflogic.identification.table import Votes, transitions
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, StoppedError

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Flips:
    """A rule, and the cells that were recorded wrongly if it is right."""

    table: Table
    flipped: npt.NDArray[np.int64]
    """Recording, frame, row and column of each, shape (n, 4)."""
    fewest: bool
    """Whether no fewer of the cells that were looked at will do."""


class _Collected(Formula):
    """A formula that keeps its clauses for another solver."""

    def __init__(self) -> None:
        super().__init__()
        self.clauses: list[list[int]] = [[self.true]]

    def add(self, clause: Iterable[int]) -> None:
        literals = list(clause)
        if self.variables > 1:
            self.clauses.append(literals)


def fewest_flips(
    recording: Recording,
    space: Space,
    boundary: str,
    votes: Votes,
    deadline: Deadline,
    update: Update,
) -> Flips:
    """Find the cells that were recorded wrongly, if the rule is what follows most often.

    Raises StoppedError if there is no time to find them, and ConfigError if no cells do.
    """
    table = votes.table
    suspects = _suspects(recording, space, boundary, table)
    if not suspects.any():
        return Flips(table, np.zeros((0, 4), np.int64), True)
    formula = _Collected()
    with formula:
        cells = _encode(formula, recording, space, boundary, table, suspects, update)
        held = _fewest(formula, list(cells.values()), deadline, update)
    flipped = [place for place, same in cells.items() if same not in held]
    return Flips(table, np.array(flipped, np.int64).reshape(-1, 4), True)


def _suspects(recording: Recording, space: Space, boundary: str, table: Table) -> npt.NDArray:
    """Return which cells take part in a transition that contradicts a rule, as the frames."""
    entries, following = transitions(recording, space, boundary)
    expected = np.append(table, UNKNOWN)[entries]
    wrong = (entries != UNKNOWN) & (expected != following)
    suspects = np.zeros(recording.frames.shape, np.bool_)
    suspects[:, 1:] |= wrong
    for dy, dx in space.offsets:
        # A cell is a suspect if it is the neighbour of one that something wrong follows.
        beyond = "zero" if boundary == "zero" else "periodic"
        suspects[:, :-1] |= shifted(wrong, (-dy, -dx), beyond).astype(np.bool_)
    return suspects


def _encode(
    formula: Formula,
    recording: Recording,
    space: Space,
    boundary: str,
    table: Table,
    suspects: npt.NDArray,
    update: Update,
) -> dict[tuple[int, ...], int]:
    """Demand all transitions in which suspects take part.

    Returns for each suspect, by its place, a literal that holds if it was recorded rightly.
    """
    encoding = Encoding(formula, space, boundary, 1, table)
    states: dict[tuple[int, ...], State] = {}
    same: dict[tuple[int, ...], int] = {}
    for place in map(tuple, np.argwhere(suspects).tolist()):
        states[place] = encoding.new_state()
        same[place] = formula.variable()
        for literal in encoding.spelled(states[place], int(recording.frames[place])):
            formula.add([-same[place], literal])
    _, _, height, width = recording.frames.shape

    def state(number: int, frame: int, y: int, x: int) -> State:
        if boundary == "periodic":
            y, x = y % height, x % width
        elif not (0 <= y < height and 0 <= x < width):
            return encoding.constant(0)
        place = number, frame, y, x
        return states.get(place) or encoding.constant(int(recording.frames[place]))

    touched = suspects[:, 1:].copy()
    for offset in space.offsets:
        touched |= shifted(suspects[:, :-1], offset, boundary).astype(np.bool_)
    every = np.argwhere(touched).tolist()
    for done, (number, frame, y, x) in enumerate(every):
        if done % 100 == 0:
            update(done, len(every), "transitions encoded")
        around = tuple(state(number, frame, y + dy, x + dx) for dy, dx in space.offsets)
        encoding.require(around, state(number, frame + 1, y, x))
    return same


def _fewest(formula: _Collected, wanted: list[int], deadline: Deadline, update: Update) -> set[int]:
    """Return an assignment in which as many of the wanted literals hold as possible."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    weighted = WCNF()
    weighted.extend(formula.clauses)
    for literal in wanted:
        weighted.append([literal], weight=1)
    with RC2(weighted, solver="g4", adapt=True) as solver, _interrupted(solver, deadline, update):
        model = solver.compute(expect_interrupt=True)
    if model is None:
        if deadline.passed:
            raise StoppedError("the time limit passed before the wrong cells were found")
        update(0, 1, "wrong cells")
        raise ConfigError(
            "no flipped cells among those of contradicted neighbourhoods make the rule that most "
            "cells follow explain the frames: it may be another kind of rule"
        )
    return set(model)


@contextmanager
def _interrupted(solver: object, deadline: Deadline, update: Update) -> Iterator[None]:
    """While entered, let a thread end the solver's work when there is no time left."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            try:
                update(int(solver.cost), None, "wrong cells, at least")  # type: ignore
                stop = deadline.passed
            except StoppedError:
                stop = True
            if stop:
                solver.interrupt()  # type: ignore
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
