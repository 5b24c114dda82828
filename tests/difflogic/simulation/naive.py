"""Simulation written to be read: cells as bytes, neighbours looked up one by one."""

from __future__ import annotations

import numpy as np

from difflogic.grid import OUTSIDE, neighbors
from difflogic.simulation.random_bits import Use, bernoulli, child_keys, stream_key, threshold


def simulate(circuit, state, steps, boundary, fire_rate=1.0, seed=0, damage=None):
    """The state (channels, height, width) after so many steps; `damage` maps steps to masks."""
    channels, height, width = state.shape
    table = neighbors(height, width, boundary)
    cells = state.reshape(channels, -1).astype(bool)
    for step in range(steps):
        seen = np.where(table[:, None] == OUTSIDE, False, cells[:, table].swapaxes(0, 1))
        new = circuit.next_state(seen.reshape(9 * channels, -1))
        if fire_rate < 1:
            fires = fire_mask(seed, step, height, width, fire_rate).ravel()
            new = np.where(fires, new, cells)
        if damage and step + 1 in damage:
            new = new & (damage[step + 1].ravel() == 0)
        cells = new
    return cells.reshape(state.shape).astype(np.uint8)


def fire_mask(seed, step, height, width, fire_rate):
    """The mask (height, width) of a step, from the words that its keys stand for."""
    key = int(child_keys(stream_key(seed, Use.FIRE), [step])[0])
    words = bernoulli(child_keys(key, np.arange(height)), -(-width // 64), threshold(fire_rate))
    place = np.arange(width)
    return words[:, place // 64] >> (place % 64).astype(np.uint64) & np.uint64(1) == 1
