"""Rules read off recordings: what followed each entry, by votes, and which cells may be wrong.

If every cell was seen and frames are one step apart, the rule is what followed each entry. In a
recording with noise it is what followed most often, where the votes are clear. A MaxSAT solver
(RC2, Ignatiev, Morgado and Marques-Silva 2019) then flips as few cells as possible so that the rule
explains all frames. Only cells of transitions that contradict the rule may be flipped and, if that
is not enough, those around them; all others are taken as recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from difflogic.identification.encoding import Encoding, State
from difflogic.identification.recording import Question, Recording, Update, place
from difflogic.identification.rules import UNKNOWN, Space, Table, shifted, spread_states, within
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, StoppedError

POLL_SECONDS = 0.2
SURE_VOTES = 8
"""Lead in votes with which the state of an entry counts as right."""
TIMES_GROWN = 4
"""How often to add the surrounding cells if no flips suffice."""


@dataclass(frozen=True)
class Votes:
    """How often each state followed each entry, shape (entries, states)."""

    counts: npt.NDArray[np.int64]

    @property
    def table(self) -> Table:
        """The most frequent next state, the lowest of several; UNKNOWN without any."""
        return np.where(self.counts.any(axis=1), self.counts.argmax(axis=1), UNKNOWN)

    @property
    def contradicted(self) -> npt.NDArray[np.int64]:
        """Entries with several next states."""
        return np.flatnonzero((self.counts > 0).sum(axis=1) > 1)


def count(recording: Recording, space: Space, boundary: str) -> Votes:
    """Count the next states of each entry, wherever all its cells were seen."""
    entries, following = transitions(recording, space, boundary)
    seen = entries != UNKNOWN
    numbers = entries[seen] * space.states + following[seen]
    counts = np.bincount(numbers, minlength=space.entries * space.states)
    return Votes(counts.reshape(-1, space.states))


def contradiction(recording: Recording, space: Space, boundary: str, votes: Votes) -> str:
    """Describe the first transition that contradicts most others, and one of those."""
    entries, following = transitions(recording, space, boundary)
    rare = np.isin(entries, votes.contradicted)
    rare &= following != np.append(votes.table, UNKNOWN)[entries]
    index = np.argwhere(rare)[0]
    entry, state = int(entries[tuple(index)]), int(following[tuple(index)])
    usual = int(votes.table[entry])
    other = np.argwhere((entries == entry) & (following == usual))[0]
    return (
        f"{place(index)}: {space.describe(entry)} is followed by {state}, but by {usual} at "
        f"{place(other)}; {len(votes.contradicted)} of {space.entries} entries are contradicted"
    )


def transitions(
    recording: Recording, space: Space, boundary: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the entry around each cell of each frame but the last, and the cell's next state.

    The entry is UNKNOWN if one of these cells was not seen.
    """
    frames = recording.frames
    patterns = spread_states(frames[:, :-1], space, boundary)
    following = frames[:, 1:]
    seen = (patterns != UNKNOWN) & (following != UNKNOWN)
    return np.where(seen, space.entry_of[patterns], UNKNOWN), following


@dataclass(frozen=True)
class Flips:
    """A rule, and the cells that were recorded wrongly if it is right."""

    table: Table
    flipped: npt.NDArray[np.int64]
    """Recording, frame, row and column of each, shape (n, 4): the fewest of the cells that were
    considered."""


class _Collected(Formula):
    """A formula that keeps its clauses for another solver."""

    def __init__(self) -> None:
        super().__init__()
        self.clauses: list[list[int]] = [[self.true]]

    def add(self, clause: Iterable[int]) -> None:
        literals = list(clause)
        if self.variables > 1:
            self.clauses.append(literals)


def fewest_flips(question: Question, votes: Votes) -> Flips:
    """Find the rule by its most frequent next states, and the cells that were recorded wrongly.

    The solver chooses entries without clear votes. The gap is 1. Raises StoppedError if there is no
    time, and ConfigError if flipping cells does not help.
    """
    recording, space, boundary = question.recording, question.space, question.boundary
    *_, second, first = np.sort(votes.counts, axis=1).T
    table = np.where(first - second >= SURE_VOTES, votes.table, UNKNOWN)
    suspects = _suspects(recording, space, boundary, table)
    for _ in range(TIMES_GROWN):
        formula = _Collected()
        with formula:
            encoding = Encoding(formula, question, table)
            cells = _encode(encoding, question, suspects)
            wanted = [same for _, same in cells.values()]
            held = _fewest(formula, wanted, question.deadline, question.update)
        if held is not None:
            flipped = [cell for cell, (_, same) in cells.items() if same not in held]
            frames = recording.frames.copy()
            for cell in flipped:
                frames[cell] = encoding.value(cells[cell][0], held)
            seen = count(replace(recording, frames=frames), space, boundary).counts.any(axis=1)
            found = np.where(seen, encoding.read(held), UNKNOWN)
            return Flips(found, np.array(flipped, np.int64).reshape(-1, 4))
        suspects = _around(_touched(suspects, space, boundary), space, boundary)
    raise ConfigError(
        f"{recording.source}: flipping cells near the contradictions does not make the rule "
        "explain all frames: it may be a rule of another kind"
    )


def _suspects(
    recording: Recording, space: Space, boundary: str, table: Table
) -> npt.NDArray[np.bool_]:
    """Return the cells of transitions that contradict a rule, or that it does not know."""
    entries, following = transitions(recording, space, boundary)
    return _around(table[entries] != following, space, boundary)


def _around(wrong: npt.NDArray[np.bool_], space: Space, boundary: str) -> npt.NDArray[np.bool_]:
    """Return all cells that the `wrong` transitions read or write."""
    recordings, frames, height, width = wrong.shape
    cells = np.zeros((recordings, frames + 1, height, width), np.bool_)
    cells[:, 1:] |= wrong
    for dy, dx in space.offsets:
        cells[:, :-1] |= shifted(wrong, (-dy, -dx), boundary).astype(np.bool_)
    return cells


def _touched(cells: npt.NDArray[np.bool_], space: Space, boundary: str) -> npt.NDArray[np.bool_]:
    """Return the transitions that involve any of the cells."""
    touched = cells[:, 1:].copy()
    for offset in space.offsets:
        touched |= shifted(cells[:, :-1], offset, boundary).astype(np.bool_)
    return touched


def _encode(
    encoding: Encoding, question: Question, suspects: npt.NDArray[np.bool_]
) -> dict[tuple[int, ...], tuple[State, int]]:
    """Require all transitions that involve suspects.

    Returns by each suspect's place its state, and a literal: it was recorded correctly.
    """
    formula, space, boundary = encoding.formula, question.space, question.boundary
    recording = question.recording
    found: dict[tuple[int, ...], tuple[State, int]] = {}
    for cell in map(tuple, np.argwhere(suspects).tolist()):
        found[cell] = unknown, same = encoding.new_state(), formula.variable()
        for literal in encoding.equals(unknown, int(recording.frames[cell])):
            formula.add([-same, literal])
    size = recording.frames.shape[2:]

    def state(number: int, frame: int, y: int, x: int) -> State:
        inside = within(y, x, size, boundary)
        if inside is None:
            return encoding.constant(0)
        cell = number, frame, *inside
        return found[cell][0] if cell in found else encoding.constant(int(recording.frames[cell]))

    every = np.argwhere(_touched(suspects, space, boundary)).tolist()
    for done, (number, frame, y, x) in enumerate(every):
        if done % 100 == 0:
            question.update(done, len(every), "transitions encoded")
        around = tuple(state(number, frame, y + dy, x + dx) for dy, dx in space.offsets)
        encoding.require(around, state(number, frame + 1, y, x))
    return found


def _fewest(
    formula: _Collected, wanted: list[int], deadline: Deadline, update: Update
) -> set[int] | None:
    """Return an assignment with as many of the wanted literals as possible, if there is one."""
    from pysat._utils import MainThread
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    # In the main thread it would replace the handler of Ctrl-C during its calls, and lose signals.
    MainThread.check = staticmethod(lambda: False)
    weighted = WCNF()
    weighted.extend(formula.clauses)
    for literal in wanted:
        weighted.append([literal], weight=1)
    with RC2(weighted, solver="g4", adapt=True) as solver, _interrupted(solver, deadline, update):
        model = solver.compute(expect_interrupt=True)
    if model is None:
        if deadline.passed:
            raise StoppedError(
                "the time limit passed before the wrong cells were found: raise --time-limit"
            )
        update(0, None, "wrong cells, at least")  # raises StoppedError if the user stopped it
        return None
    return set(model)


@contextmanager
def _interrupted(solver: object, deadline: Deadline, update: Update) -> Iterator[None]:
    """Stop the solver from a thread when there is no time left."""
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
