"""Rules read off recordings: what followed each entry, by votes.

If every cell was seen and frames are one step apart, the rule is what followed each entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from difflogic.examples.film import Recording, place
from difflogic.identification.rules import UNSEEN, RuleTable, Space, spread_states
from difflogic.system.array_types import Int64s
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import OutOfTimeError

CELLS_AT_ONCE = 2**18
"""Cells to count between two looks at the clock: some hundredths of a second."""


@dataclass(frozen=True)
class Votes:
    """How often each state followed each entry, shape (entries, states)."""

    counts: Int64s

    @property
    def table(self) -> RuleTable:
        """The most frequent next state, the lowest of several; UNSEEN without any."""
        return np.where(self.counts.any(axis=1), self.counts.argmax(axis=1), UNSEEN)

    @property
    def contradicted(self) -> Int64s:
        """Entries with several next states."""
        return np.flatnonzero((self.counts > 0).sum(axis=1) > 1)


def count(
    recording: Recording,
    space: Space,
    boundary: str,
    deadline: Deadline = NEVER,
    hasty: bool = False,
) -> Votes:
    """Count the next states of each entry, wherever all its cells were seen.

    With `hasty`, only until one entry is contradicted. Raises OutOfTimeError if a stop is
    asked for, and with `hasty` if the deadline passes.
    """
    films, frames, height, width = recording.frames.shape
    last = frames - 1 - space.memory
    size = space.entries * space.states
    votes = Votes(np.zeros((space.entries, space.states), np.int64))
    at_once = max(1, max(CELLS_AT_ONCE, size) // (height * width))
    wide = max(1, at_once // (frames - 1))
    for film, first in product(range(0, films, wide), range(0, last, at_once)):
        if deadline.should_stop():
            raise OutOfTimeError("stopped")
        if hasty:
            deadline.check()
        end = first + at_once + 1 + space.memory
        part = recording.frames[film : film + wide, first:end]
        entries, following = transitions(part, space, boundary)
        seen = entries != UNSEEN
        numbers = entries[seen] * space.states + following[seen]
        votes.counts[:] += np.bincount(numbers, minlength=size).reshape(-1, space.states)
        if hasty and len(votes.contradicted):
            break
    return votes


def contradiction(recording: Recording, space: Space, boundary: str, deadline: Deadline) -> str:
    """Describe the first transition that contradicts most others, and one of those, if any does."""
    votes = count(recording, space, boundary, deadline)
    if not len(votes.contradicted):
        return ""
    entries, following = transitions(recording.frames, space, boundary)
    rare = np.isin(entries, votes.contradicted)
    rare &= following != np.append(votes.table, UNSEEN)[entries]
    index = np.argwhere(rare)[0]
    entry = int(entries[tuple(index)])
    state = int(following[tuple(index)])
    usual = int(votes.table[entry])
    other = np.argwhere((entries == entry) & (following == usual))[0]
    index[1] += space.memory
    other[1] += space.memory
    return (
        f"{place(index)}: {space.describe(entry)} is followed by {state}, but by {usual} at "
        f"{place(other)}; {len(votes.contradicted)} of {space.entries} entries are contradicted"
    )


def transitions(frames: Int64s, space: Space, boundary: str) -> tuple[Int64s, Int64s]:
    """Return the entry around each cell of each frame but the last, and the cell's next state.

    With memory, the first frame has none. The entry is UNSEEN if one of these cells was not seen.
    """
    earlier = frames[:, :-2] if space.memory else None
    patterns = spread_states(frames[:, space.memory : -1], space, boundary, earlier)
    following = frames[:, 1 + space.memory :]
    seen = (patterns != UNSEEN) & (following != UNSEEN)
    return np.where(seen, space.entry_of[patterns], UNSEEN), following
