"""Rules read off recordings: what followed each entry, by votes.

If every cell was seen and frames are one step apart, the rule is what followed each entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.identification.recording import Recording, place
from difflogic.identification.rules import UNKNOWN, Space, Table, spread_states


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
