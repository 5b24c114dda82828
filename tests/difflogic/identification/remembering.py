"""Second-order automata in plain NumPy: the next state is g(neighbourhood, state before)."""

import numpy as np

from tests.difflogic.identification.automata import HOODS, codes


def drawn(rng, hood, states, kind):
    """A table by neighbourhood and state before: any, or of f minus that state."""
    size = states ** len(HOODS[hood])
    if kind == "general":
        return rng.integers(0, states, (size, states))
    f = rng.integers(0, states, size)
    return (f[:, None] - np.arange(states)) % states


def step(table, before, now, hood, boundary):
    """The frame after two frames, (height, width)."""
    return table[codes(now, hood, table.shape[1], boundary), before]


def film(rng, table, hood, size, frames, boundary="periodic"):
    """A film of some frames from random ones."""
    found = [*rng.integers(0, table.shape[1], (2, *size))]
    while len(found) < frames:
        found.append(step(table, *found[-2:], hood, boundary))
    return np.array(found)
