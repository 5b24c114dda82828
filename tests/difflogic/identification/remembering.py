"""Second-order automata in plain NumPy: the next state is g(neighbourhood, state before)."""

import numpy as np

HOODS = {
    "line-1": [(0, dx) for dx in (-1, 0, 1)],
    "line-2": [(0, dx) for dx in (-2, -1, 0, 1, 2)],
    "moore": [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)],
    "von-neumann": [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)],
}


def drawn(rng, hood, states, kind):
    """A table by neighbourhood and state before: any, or of f minus that state."""
    size = states ** len(HOODS[hood])
    if kind == "general":
        return rng.integers(0, states, (size, states))
    f = rng.integers(0, states, size)
    return (f[:, None] - np.arange(states)) % states


def codes(frame, hood, states, boundary):
    """The number of the neighbourhood around each cell, the first cell's digit the highest."""
    found = np.zeros(frame.shape, int)
    far = 3
    mode = {"mode": "wrap"} if boundary == "periodic" else {"constant_values": 0}
    wide = np.pad(frame, far, **mode)
    height, width = frame.shape
    for dy, dx in HOODS[hood]:
        part = wide[far + dy : far + dy + height, far + dx : far + dx + width]
        found = found * states + part
    return found


def step(table, before, now, hood, boundary):
    """The frame after two frames, (height, width)."""
    states = table.shape[1]
    return table[codes(now, hood, states, boundary), before]


def film(rng, table, hood, size, frames, boundary="periodic"):
    """A film of some frames from random ones."""
    states = table.shape[1]
    found = [*rng.integers(0, states, (2, *size))]
    while len(found) < frames:
        found.append(step(table, *found[-2:], hood, boundary))
    return np.array(found)
