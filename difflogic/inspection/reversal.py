"""Rules that remember one frame: whether the same rule runs them backwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.circuit.case_words import next_states
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD

MOST_CASE_BITS = 21
"""Most bits to try all cases of: those of the neighbourhood, and of the cell before."""


@dataclass(frozen=True)
class Reversal:
    """Channels that change places to run a rule backwards, on every grid.

    `before` keeps what `now` was, and the next `now` depends on the cells' `now` and on the cell's
    own `before`. In all cases of a cell, what comes next leads back to `before` by the same rule.
    """

    now: tuple[int, ...]
    """Rows of the circuit's channels, the lowest bit of a state first."""
    before: tuple[int, ...]
    states: int
    """For states from 0 up to this number."""

    @property
    def for_every_state(self) -> bool:
        """Whether it is for all states that the bits can hold."""
        return self.states == 1 << len(self.now)


def reversal(circuit: Circuit) -> Reversal | None:
    """Return how to run a circuit backwards, by trying all cases of a cell; None if unknown."""
    channels = circuit.channels
    outputs = circuit.outputs.tolist()
    first = CENTER * channels
    kept = {row: out - first for row, out in enumerate(outputs) if 0 <= out - first < channels}
    before = tuple(row for row, source in sorted(kept.items(), key=lambda each: each[1]))
    now = tuple(kept[row] for row in before)
    if {*now} | {*before} != {*range(channels)} or len({*now, *before}) != 2 * len(now):
        return None
    near = {cell * channels + row for cell in range(NEIGHBORHOOD) for row in now}
    own = [first + row for row in before]
    rows = sorted({*circuit.read_inputs.tolist()} - {*own})
    if not near.issuperset(rows) or len(rows) + len(own) > MOST_CASE_BITS:
        return None
    after = next_states(circuit, [*own, *rows], now).reshape(-1, 1 << len(own))
    back = np.take_along_axis(after, after, axis=1) == np.arange(1 << len(own))
    codes = np.zeros((NEIGHBORHOOD, len(after)), np.int64)
    for place, row in enumerate(rows):
        cell, channel = divmod(row, channels)
        codes[cell] |= (np.arange(len(after)) >> place & 1) << now.index(channel)
    for states in range(1 << len(own), 1 << len(own) >> 1, -1):
        valid = (codes < states).all(axis=0)
        if (back & (after < states))[valid, :states].all():
            return Reversal(now, before, states)
    return None
