"""Rules of recordings with wrong cells: by votes, and then the fewest cells that must be wrong.

The rule is what follows each entry most often, where the votes are clear. A MaxSAT solver (RC2,
Ignatiev, Morgado and Marques-Silva 2019) then flips as few cells as possible so that it explains
all frames. Only cells of transitions that contradict the rule are looked at, and, if flipping these
does not suffice, those around them; all others are taken as recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.identification.recording import Recording
from difflogic.identification.rules import UNKNOWN, Space, Table, shifted, within
from difflogic.identification.solving import Encoding, State, Update
from difflogic.identification.table import Votes, transitions
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, StoppedError

POLL_SECONDS = 0.2
SURE_VOTES = 8
"""By which an entry's state leads, to be taken as right."""
TIMES_GROWN = 4
"""That the cells around those that are looked at are looked at, too, if no flips suffice."""


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

    Entries that few votes decide are left to the solver. Raises StoppedError if there is no time,
    and ConfigError if flipping cells does not help.
    """
    *_, second, first = np.sort(votes.counts, axis=1).T
    table = np.where(first - second >= SURE_VOTES, votes.table, UNKNOWN)
    suspects = _suspects(recording, space, boundary, table)
    for _ in range(TIMES_GROWN):
        formula = _Collected()
        with formula:
            encoding = Encoding(formula, space, boundary, 1, table)
            cells = _encode(encoding, recording, suspects, update)
            held = _fewest(formula, list(cells.values()), deadline, update)
        if held is not None:
            flipped = [place for place, same in cells.items() if same not in held]
            found = np.where(votes.counts.any(axis=1), encoding.read(held), UNKNOWN)
            return Flips(found, np.array(flipped, np.int64).reshape(-1, 4), True)
        suspects = _around(_touched(suspects, space, boundary), space, boundary)
    raise ConfigError(
        f"{recording.source}: no flipped cells near those that contradict the rule make it explain "
        "all frames: it may be a rule of another kind"
    )


def _suspects(
    recording: Recording, space: Space, boundary: str, table: Table
) -> npt.NDArray[np.bool_]:
    """Return which cells take part in a transition that contradicts a rule, or is unknown to it."""
    entries, following = transitions(recording, space, boundary)
    return _around(table[entries] != following, space, boundary)


def _around(wrong: npt.NDArray[np.bool_], space: Space, boundary: str) -> npt.NDArray[np.bool_]:
    """Return the cells of transitions, which have the places of the cells that change in them."""
    recordings, frames, height, width = wrong.shape
    cells = np.zeros((recordings, frames + 1, height, width), np.bool_)
    cells[:, 1:] |= wrong
    for dy, dx in space.offsets:
        cells[:, :-1] |= shifted(wrong, (-dy, -dx), boundary).astype(np.bool_)
    return cells


def _touched(cells: npt.NDArray[np.bool_], space: Space, boundary: str) -> npt.NDArray[np.bool_]:
    """Return the transitions in which cells take part."""
    touched = cells[:, 1:].copy()
    for offset in space.offsets:
        touched |= shifted(cells[:, :-1], offset, boundary).astype(np.bool_)
    return touched


def _encode(
    encoding: Encoding, recording: Recording, suspects: npt.NDArray[np.bool_], update: Update
) -> dict[tuple[int, ...], int]:
    """Demand all transitions in which suspects take part.

    Returns for each suspect, by its place, a literal that holds if it was recorded rightly.
    """
    formula, space, boundary = encoding.formula, encoding.space, encoding.boundary
    states: dict[tuple[int, ...], State] = {}
    same: dict[tuple[int, ...], int] = {}
    for place in map(tuple, np.argwhere(suspects).tolist()):
        states[place] = encoding.new_state()
        same[place] = formula.variable()
        for literal in encoding.spelled(states[place], int(recording.frames[place])):
            formula.add([-same[place], literal])
    size = recording.frames.shape[2:]

    def state(number: int, frame: int, y: int, x: int) -> State:
        inside = within(y, x, size, boundary)
        if inside is None:
            return encoding.constant(0)
        place = number, frame, *inside
        return states.get(place) or encoding.constant(int(recording.frames[place]))

    every = np.argwhere(_touched(suspects, space, boundary)).tolist()
    for done, (number, frame, y, x) in enumerate(every):
        if done % 100 == 0:
            update(done, len(every), "transitions encoded")
        around = tuple(state(number, frame, y + dy, x + dx) for dy, dx in space.offsets)
        encoding.require(around, state(number, frame + 1, y, x))
    return same


def _fewest(
    formula: _Collected, wanted: list[int], deadline: Deadline, update: Update
) -> set[int] | None:
    """Return an assignment in which as many of the wanted literals hold as possible, if any."""
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
        update(0, None, "wrong cells, at least")  # raises StoppedError if that was the reason
        return None
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
