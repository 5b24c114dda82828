"""From a recording to its rule, in the cheapest way that is exact, and how much of it is proved."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary
from difflogic.identification import solving, synthesis, table
from difflogic.identification.hidden import spaces as hidden_spaces
from difflogic.identification.recording import Recording
from difflogic.identification.rules import (
    BOUNDARIES,
    NEIGHBOURHOODS,
    UNKNOWN,
    Space,
    Table,
    spread_states,
)
from difflogic.identification.solving import Update
from difflogic.model.automaton import Automaton
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import CircuitError, ConfigError, StoppedError

Flags = npt.NDArray[np.bool_]

GUESS_SECONDS = 20.0
"""For a rule with more symmetry than is asked for, whose entries the solver then tries first."""
UNDRAWABLE = (
    "a circuit reads the nine cells around, and line-2 and radius-2 read cells further away: "
    "leave out the file; the output and --json have the whole rule"
)
TRIED = 1000
"""Frames of random cells among which one is looked for that tells two rules apart."""


@dataclass(frozen=True)
class Identified:
    """A rule that explains a recording, and how far it is shown to be the only one."""

    recording: Recording
    space: Space
    boundary: str
    gap: int
    method: str
    """table, SAT or MaxSAT."""
    table: Table
    """The next state by entry; UNKNOWN if no cell that was seen depends on it."""
    determined: Flags
    """By entry: every rule that explains the recording has it."""
    open: Flags
    """By entry: a rule that explains the recording has another state there. What is neither and
    not UNKNOWN is undecided."""
    second: Table | None
    """Another rule that explains the recording, where one was found."""
    flipped: npt.NDArray[np.int64] | None = None
    """Of a recording with noise: cells that were recorded wrongly, (n, 4)."""
    fewest: bool = False
    """Whether no fewer of the cells that were looked at will do."""
    sure: npt.NDArray[np.float64] | None = None
    """Of a recording with noise: by entry, the share of its occurrences that agree."""

    @property
    def never_seen(self) -> Flags:
        return self.table == UNKNOWN

    @property
    def undecided(self) -> Flags:
        return ~(self.determined | self.open | self.never_seen)

    @property
    def unique(self) -> bool | None:
        """Whether all rules that explain the recording agree on all entries that it depends on.

        None if that is not decided.
        """
        if self.open.any():
            return False
        return None if self.undecided.any() else True

    @cached_property
    def built(self) -> Circuit:
        """A circuit of the rule, not yet simplified, with entries that are free filled.

        Raises CircuitError for a neighbourhood that no circuit can read.
        """
        return synthesis.build(self.space, self.table)

    @cached_property
    def complete(self) -> Table:
        """The next state by pattern, shape (patterns,), with entries that are free filled."""
        return synthesis.filled(self.space, self.table, None if self.space.counted else self.built)

    @property
    def name(self) -> str | None:
        """The usual name of the complete rule, as B3/S23 or rule 110."""
        return self.space.name(self.complete)

    def circuit(
        self,
        effort: str = "normal",
        step: Callable[[], object] = lambda: None,
        deadline: Deadline = NEVER,
    ) -> Circuit:
        """Return the rule's circuit, simplified; it is compared with the table on all patterns."""
        surroundings = self._automaton(self.built)
        small = simplify(surroundings, EFFORTS[effort], step, deadline).circuit
        if small.channels != self.built.channels:
            return self.built
        if (synthesis.evaluate(self.space, small) != self.complete).any():
            raise CircuitError("the simplified circuit differs from the table: please report this")
        return small

    def automaton(self, circuit: Circuit | None) -> Automaton:
        """Return the rule as an automaton. Raises CircuitError if circuits cannot hold it."""
        if circuit is None or not self.space.drawable:
            raise CircuitError(UNDRAWABLE)
        return self._automaton(circuit)

    def _automaton(self, circuit: Circuit) -> Automaton:
        _, frames, height, width = self.recording.frames.shape
        boundary: Boundary = "zero" if self.boundary == "zero" else "periodic"
        visible = tuple(range(self.space.bits))
        steps = (frames - 1) * self.gap
        name = "identified"
        if self.space.drawable and self.name:
            name = self.name.replace("/", "").replace(" ", "-")
        return Automaton(name, circuit, visible, boundary, height, width, steps, 1.0, "random")

    def next_frame(self, seed: int = 0) -> npt.NDArray[np.int64] | None:
        """Return a frame (height, width) after which the rule and `second` differ, if one is found.

        Recorded again after `gap` steps it rules one of them out.
        """
        if self.second is None or self.space.looks:
            return None
        rng = np.random.default_rng(seed)
        first, free = self.space.spread(self.table), self.second == UNKNOWN
        second = self.space.spread(np.where(free, self.table, self.second))
        _, _, height, width = self.recording.frames.shape
        boundary = "periodic" if self.boundary == "unknown" else self.boundary
        for _ in range(TRIED):
            density = rng.random()
            frame = np.where(
                rng.random((height, width)) < density,
                rng.integers(0, self.space.states, (height, width)),
                0,
            )
            ends = [run(self.space, each, frame, boundary, self.gap) for each in (first, second)]
            if (ends[0] != ends[1]).any() and (ends[0] >= 0).all() and (ends[1] >= 0).all():
                return frame
        return None


def run(
    space: Space, patterns: Table, frame: npt.NDArray[np.int64], boundary: str, steps: int
) -> npt.NDArray[np.int64]:
    """Return frames (…, height, width) after some steps of a rule by pattern.

    What follows from something UNKNOWN is UNKNOWN.
    """
    for _ in range(steps):
        found = spread_states(frame, space, boundary)
        frame = np.where(found == UNKNOWN, UNKNOWN, patterns[found])
    return frame


def identify(
    recording: Recording,
    space: Space,
    boundary: str = "periodic",
    gap: int = 1,
    noise: bool = False,
    deadline: Deadline = NEVER,
    update: Update = lambda done, total, remark: None,
    hidden: int = 0,
    plain_start: bool = False,
) -> Identified:
    """Find a rule of `space` that explains a recording of frames `gap` steps apart.

    With `noise` some cells may have been recorded wrongly, as few as possible. With `hidden` cells
    may have up to this many more states than are seen, by `plain_start` not in the first frame.
    Raises ConfigError if no rule explains it, with the place, and StoppedError if there was no time
    to find one.
    """
    _check(recording, space, boundary, gap, noise, hidden)
    if hidden:
        return _hidden(recording, space, boundary, gap, deadline, update, hidden, plain_start)
    if noise:
        from difflogic.identification.noise import fewest_flips

        votes = table.count(recording, space, boundary)
        found = fewest_flips(recording, space, boundary, votes, deadline, update)
        seen, nobody = votes.counts.any(axis=1), np.zeros(space.entries, np.bool_)
        sure = votes.counts.max(axis=1) / np.maximum(votes.counts.sum(axis=1), 1)
        answer = (found.table, nobody, nobody, None)
        confidence = np.where(seen, sure, 0.0)
        noted = (found.flipped, found.fewest, confidence)
        return Identified(recording, space, boundary, gap, "MaxSAT", *answer, *noted)
    known = np.full(space.entries, UNKNOWN)
    if gap == 1:
        votes = table.count(recording, space, boundary)
        if len(votes.contradicted):
            where = table.contradiction(recording, space, boundary, votes)
            raise ConfigError(f"{recording.source}: {where}{_remedy(recording, space, boundary)}")
        known = votes.table
        if recording.complete and boundary != "unknown":
            none = np.zeros(space.entries, np.bool_)
            return Identified(
                recording, space, boundary, gap, "table", known, known != UNKNOWN, none, None
            )
    guess = _guess(recording, space, boundary, gap, known, deadline, update)
    solved = solving.solve(recording, space, boundary, gap, known, guess, deadline, update)
    if solved is None:
        number, frame = _first_unexplained(recording, space, boundary, gap, deadline, update)
        raise ConfigError(
            f"{recording.source}: no rule explains recording {number} up to frame {frame}, though "
            "one explains all before: it may have noise (--noise), other --gap or --boundary, a "
            "larger neighbourhood, less symmetry, or more states than are seen"
        )
    return _by_sat(recording, space, boundary, gap, solved)


def _by_sat(
    recording: Recording, space: Space, boundary: str, gap: int, solved: solving.Solved
) -> Identified:
    flags = (solved.determined, solved.open)
    return Identified(recording, space, boundary, gap, "SAT", solved.table, *flags, solved.second)


def _hidden(
    recording: Recording,
    space: Space,
    boundary: str,
    gap: int,
    deadline: Deadline,
    update: Update,
    hidden: int,
    plain_start: bool,
) -> Identified:
    refuted = 0
    for each in hidden_spaces(space, hidden):

        def trying(done: int, total: int | None, what: str) -> None:
            update(done, total, f"{refuted} kinds of hidden states refuted; {what}")  # noqa: B023

        known = np.full(each.entries, UNKNOWN)
        try:
            solved = solving.solve(
                recording, each, boundary, gap, known, None, deadline, trying, True, plain_start
            )
        except StoppedError as error:
            raise StoppedError(f"{error}; {refuted} kinds of hidden states are refuted") from None
        if solved is not None:
            return _by_sat(recording, each, boundary, gap, solved)
        refuted += 1
    raise ConfigError(
        f"{recording.source}: no rule with up to {hidden} hidden states explains it (proved for "
        f"all {refuted} kinds of them): it may have more (--hidden), noise (--noise), other --gap "
        "or --boundary, or a larger neighbourhood"
    )


def _check(
    recording: Recording, space: Space, boundary: str, gap: int, noise: bool, hidden: int
) -> None:
    if boundary not in BOUNDARIES:
        raise ConfigError(f'no boundary "{boundary}": known are {", ".join(BOUNDARIES)}')
    if gap < 1:
        raise ConfigError(f"gap: frames are at least 1 step apart, not {gap}")
    if noise and hidden:
        raise ConfigError("noise and hidden states cannot be told apart: give one of them")
    if noise and (gap > 1 or boundary == "unknown" or not recording.complete):
        raise ConfigError(
            "noise is found in recordings one step apart in which every cell and what lies beyond "
            "the boundary is seen"
        )
    # Around a small torus a cell would be its own neighbour, which is right, but rarely meant.
    if recording.states > space.states:
        raise ConfigError(f"the recording has {recording.states} states, not {space.states}")


def _guess(
    recording: Recording,
    space: Space,
    boundary: str,
    gap: int,
    known: Table,
    deadline: Deadline,
    update: Update,
) -> Table | None:
    """Return a rule with more symmetry that explains the recording, by the entries of `space`.

    Only what the solver tries first: no answer depends on it.
    """
    if space.symmetry == "outer-totalistic" or space.entries == (known != UNKNOWN).sum():
        return None
    coarse = Space(space.neighbourhood, "outer-totalistic", space.states)
    merged = synthesis.merge(coarse, space.spread(known))
    if merged is None:
        return None

    def guessing(done: int, total: int | None, what: str) -> None:
        update(done, total, f"a first guess, {what}")

    short = Deadline(min(deadline.at, Deadline.after(GUESS_SECONDS).at))
    try:
        solved = solving.solve(
            recording, coarse, boundary, gap, merged, None, short, guessing, decide=False
        )
    except StoppedError:
        update(0, 1, "")  # raises it again if not only this guess took too long
        return None
    if solved is None:
        return None
    return np.maximum(solved.table, 0)[coarse.entry_of[space.examples]]


def _first_unexplained(
    recording: Recording, space: Space, boundary: str, gap: int, deadline: Deadline, update: Update
) -> tuple[int, int]:
    """Return the recording, and its frame, up to which no rule explains them."""

    def explained(frames: npt.NDArray[np.int64]) -> bool:
        part = Recording(frames, recording.states)
        known = np.full(space.entries, UNKNOWN)
        found = solving.solve(part, space, boundary, gap, known, None, deadline, update, False)
        return found is not None

    every = recording.frames
    numbers = range(1, len(every) + 1)
    number = bisect_left(numbers, True, key=lambda n: not explained(every[:n]))
    # Later frames of this recording are left out by taking them as unseen.
    before = every[: number + 1]

    def cut(frame: int) -> npt.NDArray[np.int64]:
        last = before[number, :frame]
        rest = np.full_like(before[number, frame:], UNKNOWN)
        return np.concatenate([before[:number], np.concatenate([last, rest])[None]])

    frames = range(2, every.shape[1] + 1)
    return number, 1 + bisect_left(frames, True, key=lambda n: not explained(cut(n)))


def _remedy(recording: Recording, space: Space, boundary: str) -> str:
    """Say what would explain a recording that the rules do not."""
    others = [
        (hood, symmetry, edge)
        for edge in ("periodic", "zero", "unknown")
        for hood in NEIGHBOURHOODS
        for symmetry in ("outer-totalistic", "rotations", "none")
        if hood.startswith("line") == space.neighbourhood.startswith("line")
        if (hood, symmetry, edge) != (space.neighbourhood, space.symmetry, boundary)
    ]
    for hood, symmetry, edge in others:
        try:
            other = Space(hood, symmetry, space.states)
        except ConfigError:
            continue
        if not len(table.count(recording, other, edge).contradicted):
            return (
                f". No entry is contradicted with --neighbourhood {hood} --symmetry {symmetry} "
                f"--boundary {edge}"
            )
    return (
        ". Some cells may be recorded wrongly (--noise), frames may be further apart (--gap), or "
        "cells may have states that are not seen (--hidden), or are larger than a pixel (--cell)"
    )
