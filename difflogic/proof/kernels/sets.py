"""A step on sets of values, compiled: 64 cells to a word, a block of words at a time.

A set is two bits, its least and its greatest member. Tests compare the step with that of Python's
integers, which tests compare with all members of each set, by `evaluate.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.system.jit import borrowing_kernel, part

BLOCK_WORDS = 128
"""Words that all gates compute before the next ones: their values stay in the cache."""

WORD_CELLS = 64


class NetworkWires(NamedTuple):
    """A network: rows are constant 0, the inputs that are read, and the gates."""

    inputs: npt.NDArray[np.int64]
    """Neighbour and channel of each input."""
    gates: npt.NDArray[np.int64]
    """For each gate: whether it is an XOR, and the literals that it reads."""
    outputs: npt.NDArray[np.int64]
    """Literals of the next states."""


class Views(NamedTuple):
    """What cells see of a board's planes."""

    first: npt.NDArray[np.int64]
    """For each neighbour its first shift, and the end."""
    shifts: npt.NDArray[np.int64]
    """How many cells a plane moves up."""
    masks: npt.NDArray[np.uint64]
    """The cells that see a shift, (shifts, words)."""
    full: npt.NDArray[np.uint64]
    """The cells of the board."""


@part
def _see(plane, mask, skip, shift, row, start):
    """Add to a block of a row what its cells see of a plane that moves up.

    It moves by `skip` words and `shift` bits; `mask` has the cells that see it. Slices let loops
    become vector instructions.
    """
    words = len(plane)
    count = min(len(row), len(plane) - start)
    first = start - skip
    low = max(0, -first)
    high = min(count, words - first)
    if low < high:
        into = row[low:high]
        seen = plane[first + low : first + high]
        own = mask[start + low : start + high]
        for w in range(len(into)):
            into[w] |= (seen[w] << shift) & own[w]
    if shift == 0:
        return
    back = np.uint64(WORD_CELLS) - shift
    low = max(0, 1 - first)
    high = min(count, words - first + 1)
    if low < high:
        into = row[low:high]
        seen = plane[first + low - 1 : first + high - 1]
        own = mask[start + low : start + high]
        for w in range(len(into)):
            into[w] |= (seen[w] >> back) & own[w]


@borrowing_kernel
def step(wires, views, state, after, values):
    """Write the sets after every cell fires once to `after`.

    `state` and `after` are (2, channels, words), the least members first; `values` is scratch,
    (2, rows, BLOCK_WORDS). Bits beyond the board are 0.
    """
    inputs = wires.inputs
    gates = wires.gates
    outputs = wires.outputs
    words = state.shape[2]
    every = ~np.uint64(0)
    none = np.uint64(0)
    for start in range(0, words, BLOCK_WORDS):
        count = min(BLOCK_WORDS, words - start)
        for member in range(2):
            for w in range(count):
                values[member, 0, w] = none
            for i in range(len(inputs)):
                neighbor = inputs[i, 0]
                channel = inputs[i, 1]
                for w in range(count):
                    values[member, 1 + i, w] = none
                for view in range(views.first[neighbor], views.first[neighbor + 1]):
                    skip = views.shifts[view] // WORD_CELLS
                    shift = np.uint64(views.shifts[view] - skip * WORD_CELLS)
                    plane = state[member, channel]
                    mask = views.masks[view]
                    _see(plane, mask, skip, shift, values[member, 1 + i], start)
        for g in range(len(gates)):
            x = gates[g, 1]
            y = gates[g, 2]
            row = 1 + len(inputs) + g
            # An inverted set has the greatest member's inverse as its least.
            a = x & 1
            b = y & 1
            flip_x = every if a else none
            flip_y = every if b else none
            for member in range(2):  # a loop each, which becomes vector instructions
                own = values[member, row, :count]
                low_x = values[a ^ member, x >> 1]
                low_y = values[b ^ member, y >> 1]
                if not gates[g, 0]:
                    for w in range(len(own)):
                        own[w] = (low_x[w] ^ flip_x) & (low_y[w] ^ flip_y)
                    continue
                high_x = values[1 - a ^ member, x >> 1]
                high_y = values[1 - b ^ member, y >> 1]
                for w in range(len(own)):
                    own[w] = (low_x[w] ^ flip_x) & ~(high_y[w] ^ flip_y)
                for w in range(len(own)):
                    own[w] |= ~(high_x[w] ^ flip_x) & (low_y[w] ^ flip_y)
        for c in range(len(outputs)):
            flip = every if outputs[c] & 1 else none
            for member in range(2):
                new = values[member ^ (outputs[c] & 1), outputs[c] >> 1]
                for w in range(count):
                    after[member, c, start + w] = (new[w] ^ flip) & views.full[start + w]
