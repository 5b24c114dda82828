"""Plain simulation to compare with: cells as bytes, neighbours looked up one by one."""

import numpy as np

from difflogic.simulation.bit_grid import pack
from difflogic.simulation.random_bits import Use, bernoulli, child_keys, stream_key, threshold
from tests.difflogic.circuit.circuits import step


def simulate(circuit, state, steps, boundary, fire_rate=1.0, seed=0, damage=None, noise=0.0):
    """Return the state (channels, height, width) after `steps`; `damage` maps steps to masks."""
    for number in range(steps):
        fires = None
        if fire_rate < 1:
            fires = fire_mask(seed, number, *state.shape[1:], fire_rate)
        state = step(circuit, state, boundary, fires)
        if noise:
            state = state ^ flipped(seed, number, state.shape, circuit.labels, noise)
        if damage and number + 1 in damage:
            state = state & (damage[number + 1] == 0)
    return state.astype(np.uint8)


def load(grid, bits):
    """Set the state of a grid from 0 and 1 (channels, height, width)."""
    grid.load(slice(0, bits.shape[1]), pack(bits))


def fire_mask(seed, step, height, width, fire_rate):
    """Return the fire mask (height, width) of a step, bit by bit."""
    key = int(child_keys(stream_key(seed, Use.FIRE), [step])[0])
    return drawn(child_keys(key, np.arange(height)), width, fire_rate)


def flipped(seed, step, shape, labels, noise):
    """Return the bits (channels, height, width) that noise flips after a step, row by row."""
    _, height, width = shape
    key = int(child_keys(stream_key(seed, Use.NOISE), [step])[0])
    found = np.zeros(shape, np.bool_)
    for row in range(height):
        keys = child_keys(int(child_keys(key, [row])[0]), labels)
        found[:, row] = drawn(keys, width, noise)
    return found


def drawn(keys, width, probability):
    words = bernoulli(keys, -(-width // 64), threshold(probability))
    place = np.arange(width)
    return words[:, place // 64] >> (place % 64).astype(np.uint64) & np.uint64(1) == 1
