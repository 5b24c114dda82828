"""The way back through a hard circuit: only what reaches the loss, values as bits.

Source: reverse-mode differentiation of bilinear gates, as in tiles.py. Here each gate's slope by
an input is 1, 0 or -1, cell by cell, and most cells of most gates have none to pass on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import ABSENT
from difflogic.engine.kernels.hard import fill_tile, hard_step, reads
from difflogic.engine.kernels.hard_structures import WORDS
from difflogic.engine.kernels.primitives import slope_any, slope_back
from difflogic.jit import borrowing_kernel, inlined, kernel, part

CELLS = 64 * WORDS
"""Cells whose slopes a gate's row holds: those of a tile."""

IGNORED, STORED, ADDED = range(3)
"""What becomes of the slopes that a gate hands to an input, as `slope_back` is told."""


class Graph(NamedTuple):
    """A hardened netlist by rows, the inputs first."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    param: np.ndarray  # int32 (rows,): whose op a gate has
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    op: np.ndarray  # uint8 (rows,): inputs: 0
    order: np.ndarray  # int32: gates that counted channels depend on, the last one first
    channels: np.ndarray  # int32: channels that they depend on


class Slopes(NamedTuple):
    """The derivatives on the way back, whole numbers all of them, and what they come to."""

    rows: np.ndarray  # float32: (inputs, stride), then (slots, CELLS) for gates
    stride: int  # cells of all words, and one more of which the slope is 0
    place: np.ndarray  # int64 (rows,): where a gate's slopes begin, or ABSENT
    free: np.ndarray  # int64 (slots,): where nobody's do, up to `room`
    room: np.ndarray  # int64 (1,)
    seen: np.ndarray  # int64 (inputs,): the last step in which an input was handed any
    states: np.ndarray  # float32 (2, channels, cells): by the states before and after a step
    viewers: np.ndarray  # uint32 (9, cells): the cell to which each is that neighbour
    found: np.ndarray  # float32 (5,)
    sums: np.ndarray  # float64 (parameters, 4): Σg, Σga, Σgb, Σgab
    totals: np.ndarray  # float64 (rows,): Σ|g| of a gate
    carried: np.ndarray  # float64 (channels,): the same of what states hand on


@kernel
def record(code, cells, forms, fires, every, states, tile, first, end):
    """Take the steps from `first` to before `end`: states (steps + 1, C, …) from each other."""
    for step in range(first, end):
        fire = fires[step % len(fires)] if len(fires) != 0 else every
        hard_step(code, cells, forms, fire, every, states[step], states[step + 1], tile)


@part
def claim(slopes, inputs, row, block, step):
    """Return where a row's slopes go, and whether they are stored there or added."""
    if row < inputs:
        start = row * slopes.stride
        if slopes.seen[row] != step:
            slopes.seen[row] = step
            for i in range(start, start + slopes.stride):
                slopes.rows[i] = 0.0
        return start + block * CELLS, ADDED
    if slopes.place[row] != ABSENT:
        return slopes.place[row], ADDED
    slopes.room[0] -= 1
    slopes.place[row] = slopes.free[slopes.room[0]]
    return slopes.place[row], STORED


@inlined
def fires_in(fires, step, cell):
    """Return whether a cell takes its new state in a step."""
    if len(fires) == 0:
        return True
    return (fires[step % len(fires), cell >> 6] >> np.uint64(cell & 63)) & np.uint64(1) != 0


@inlined
def outputs_back(graph, slopes, inputs, fires, block, words, step):
    """Hand the slopes by the state after a step, where cells fire, to the rows it is made of."""
    for i in range(len(graph.channels)):
        c = graph.channels[i]
        place, use = claim(slopes, inputs, graph.outputs[c], block, step)
        for k in range(64 * words):
            cell = block * CELLS + k
            g = slopes.states[(step + 1) % 2, c, cell]
            if not fires_in(fires, step, cell):
                g = np.float32(0.0)
            slopes.rows[place + k] = g if use == STORED else slopes.rows[place + k] + g


@inlined
def gates_back(graph, slopes, inputs, forms, tile, block, words, step):
    """Go through the gates, the last one first, as far as there are slopes."""
    for i in range(len(graph.order)):
        row = graph.order[i]
        own = slopes.place[row]
        if own == ABSENT:
            continue
        if slope_any((slopes.rows,), (own, words)):
            a, b, op = graph.a[row], graph.b[row], graph.op[row]
            place_a = place_b = own
            use_a = use_b = IGNORED
            if reads(op, False):
                place_a, use_a = claim(slopes, inputs, a, block, step)
            if reads(op, True):
                place_b, use_b = claim(slopes, inputs, b, block, step)
            slope_back(
                (tile, slopes.rows, forms, slopes.found),
                (a, b, op, own, place_a, use_a, place_b, use_b, words),
            )
            for k in range(4):
                slopes.sums[graph.param[row], k] += slopes.found[k]
            slopes.totals[row] += slopes.found[4]
        slopes.place[row] = ABSENT
        slopes.free[slopes.room[0]] = own
        slopes.room[0] += 1


@inlined
def states_back(graph, slopes, fires, words, step):
    """Collect the slopes by the state before a step from the inputs that see it."""
    channels = len(graph.outputs)
    for i in range(len(graph.channels)):
        c = graph.channels[i]
        total = 0.0
        for cell in range(64 * words):
            g = np.float32(0.0)
            if not fires_in(fires, step, cell):
                g = slopes.states[(step + 1) % 2, c, cell]
                total += abs(g)
            slopes.states[step % 2, c, cell] = g
        slopes.carried[c] += total
        for n in range(9):
            row = n * channels + c
            if slopes.seen[row] == step:
                start = row * slopes.stride
                for cell in range(64 * words):
                    slopes.states[step % 2, c, cell] += slopes.rows[start + slopes.viewers[n, cell]]


@borrowing_kernel
def differentiate(graph, code, cells, forms, fires, states, tile, slopes, words, first, end):
    """Go from the state after step `end` - 1 back to the one before step `first`.

    `states` (steps + 1, C, …) is what `record` left, `slopes` has the derivatives by the state
    after the last step; only the first `words` of each row are looked at.
    """
    inputs = len(tile) - len(code.gates)
    for step in range(end - 1, first - 1, -1):
        for start in range(0, words, WORDS):
            fill_tile(code, cells, forms, states[step], tile, start)
            block, some = start // WORDS, min(WORDS, words - start)
            outputs_back(graph, slopes, inputs, fires, block, some, step)
            gates_back(graph, slopes, inputs, forms, tile, block, some, step)
        states_back(graph, slopes, fires, words, step)
