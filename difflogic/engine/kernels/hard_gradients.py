"""The way back through a hard circuit: only what reaches the loss, values as bits.

Source: reverse-mode differentiation of bilinear gates, as in tiles.py. Here each gate's slope by
an input is 1, 0 or -1, cell by cell, and most cells of most gates have none to pass on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import ABSENT, passes
from difflogic.engine.kernels.hard import fill_tile, hard_step, reads
from difflogic.engine.kernels.primitives import slope_any, slope_back, slope_move
from difflogic.engine.kernels.structures import WORDS
from difflogic.system.jit import borrowing_kernel, by_reference, kernel, part

CELLS = 64 * WORDS
"""Cells whose slopes a row holds: those of a tile."""

IGNORED, STORED, ADDED = range(3)
"""What becomes of the slopes that are handed on, as `slope_back` and `slope_move` are told."""


@by_reference
class Graph(NamedTuple):
    """A hardened netlist by rows, the inputs first."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    value: np.ndarray  # int64 (rows,): the row of the tile with the values of what is wired to
    param: np.ndarray  # int32 (rows,): whose op a gate has
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    op: np.ndarray  # uint8 (rows,): inputs: 0
    order: np.ndarray  # int32: gates that counted channels depend on, the last one first
    channels: np.ndarray  # int32: channels that they depend on


@by_reference
class Slopes(NamedTuple):
    """The derivatives on the way back, and what they come to."""

    rows: np.ndarray  # float32 (slots * CELLS,)
    place: np.ndarray  # int64 (rows,): where a row's slopes begin, or ABSENT
    free: np.ndarray  # int64 (slots,): where nobody's do, up to `room`
    room: np.ndarray  # int64 (1,)
    handed: np.ndarray  # int32 (inputs,): inputs that have slopes, as many as `room` says next
    inputs: np.ndarray  # int64 (1,)
    states: np.ndarray  # float32 (2, channels, cells of padded words): before and after a step
    found: np.ndarray  # float64 (4,)
    sums: np.ndarray  # float64 (parameters, 4): Σg, Σga, Σgb, Σgab
    kept_at: np.ndarray  # int32 (rows,): where in `kept` those of a row are put, or ABSENT
    kept: np.ndarray  # float32 (…, cells of all steps)


@kernel
def record(code, cells, forms, fires, every, states, tile, first, end):
    """Take the steps from `first` to before `end`: states (steps + 1, C, …) from each other."""
    for step in range(first, end):
        fire = fires[step % len(fires)] if len(fires) != 0 else every
        hard_step(code, cells, forms, fire, every, states[step], states[step + 1], tile)


@kernel
def read_values(code, cells, forms, states, tile, places, values):
    """Copy the values of all cells before each step, of rows of the tile, (rows, steps, words)."""
    for step in range(values.shape[1]):
        for first in range(0, values.shape[2], WORDS):
            fill_tile(code, cells, forms, states[step], tile, first)
            for i in range(len(places)):
                for w in range(WORDS):
                    values[i, step, first + w] = tile[places[i], w]


@part
def claim(slopes, inputs, row):
    """Return where a row's slopes go, and whether they are stored there or added."""
    if slopes.place[row] != ABSENT:
        return slopes.place[row], ADDED
    slopes.room[0] -= 1
    take(slopes, inputs, row, slopes.free[slopes.room[0]])
    return slopes.place[row], STORED


@part
def take(slopes, inputs, row, place):
    """Let a row's slopes begin there; what inputs have is looked for afterwards."""
    slopes.place[row] = place
    if row < inputs:
        slopes.handed[slopes.inputs[0]] = row
        slopes.inputs[0] += 1


@part
def release(slopes, place):
    """Let others have a row's place."""
    slopes.free[slopes.room[0]] = place
    slopes.room[0] += 1


@part
def start_of(cells, words, channels, side, channel):
    """Return where the slopes by a state begin, with those of the words around it."""
    return (side * channels + channel) * 64 * (words + 2 * cells.pad)


@part
def outputs_back(graph, cells, slopes, inputs, fires, length, first, words, step):
    """Hand the slopes by the state after a step, where cells fire, to the rows it is made of."""
    for i in range(len(graph.channels)):
        c = graph.channels[i]
        state = start_of(cells, length, len(graph.outputs), (step + 1) % 2, c)
        state += 64 * (cells.pad + first)
        if slope_any((slopes.states,), (state, words)):
            place, use = claim(slopes, inputs, graph.outputs[c])
            slope_move(
                (slopes.states, slopes.rows, fires),
                (state, place, step % len(fires) * length + first, 0, use, words),
            )


@part
def gates_back(graph, slopes, inputs, forms, tile, words, first):
    """Go through the gates, the last one first, as far as there are slopes.

    Slopes that are kept begin at `first`, among the cells of all steps.
    """
    for i in range(len(graph.order)):
        row = graph.order[i]
        own = slopes.place[row]
        if own == ABSENT:
            continue
        slopes.place[row] = ABSENT
        if not slope_any((slopes.rows,), (own, words)):
            release(slopes, own)
            continue
        if slopes.kept_at[row] != ABSENT:
            for i in range(64 * words):
                slopes.kept[slopes.kept_at[row], first + i] = slopes.rows[own + i]
        a, b, op = graph.a[row], graph.b[row], graph.op[row]
        place_a = place_b = own
        use_a = use_b = IGNORED
        only = a if passes(op, False) else b if passes(op, True) else ABSENT
        handed_on = only != ABSENT and slopes.place[only] == ABSENT
        if handed_on:  # as they are, where they are
            take(slopes, inputs, only, own)
        else:
            if reads(op, False):
                place_a, use_a = claim(slopes, inputs, a)
            if reads(op, True):
                place_b, use_b = claim(slopes, inputs, b)
        slope_back(
            (tile, slopes.rows, forms, slopes.found),
            (graph.value[a], graph.value[b], op, own, place_a, use_a, place_b, use_b, words),
        )
        for k in range(4):
            slopes.sums[graph.param[row], k] += slopes.found[k]
        if not handed_on:
            release(slopes, own)


@part
def inputs_back(graph, cells, slopes, length, first, words, step):
    """Hand the slopes by what cells see to the states that they see."""
    channels = len(graph.outputs)
    for i in range(slopes.inputs[0]):
        row = slopes.handed[i]
        own = slopes.place[row]
        slopes.place[row] = ABSENT
        release(slopes, own)
        state = start_of(cells, length, channels, step % 2, row % channels) + 64 * first
        n = row // channels
        for s in range(cells.start[n], cells.start[n + 1]):
            slope_move(
                (slopes.rows, slopes.states, cells.masks),
                (
                    own,
                    state + 64 * cells.skip[s] + np.int64(cells.shift[s]),
                    s * length + first,
                    0,
                    ADDED,
                    words,
                ),
            )
    slopes.inputs[0] = 0


@part
def states_back(graph, cells, slopes, fires, length, words, step):
    """Begin the slopes by the state before a step: with those of cells that do not fire."""
    for i in range(len(graph.channels)):
        c, channels = graph.channels[i], len(graph.outputs)
        before = start_of(cells, length, channels, step % 2, c) + 64 * cells.pad
        after = start_of(cells, length, channels, (step + 1) % 2, c) + 64 * cells.pad
        slope_move(
            (slopes.states, slopes.states, fires),
            (after, before, step % len(fires) * length, 1, STORED, words),
        )


@borrowing_kernel
def differentiate(graph, code, cells, forms, fires, states, tile, slopes, words, first, end):
    """Go from the state after step `end` - 1 back to the one before step `first`.

    `states` (steps + 1, C, …) is what `record` left, `slopes` has the derivatives by the state
    after the last step; only the first `words` of each row are looked at. `fires` has one row of
    all words, or one for each step.
    """
    length, inputs = states.shape[2] - 2 * cells.pad, 9 * len(graph.outputs)
    for step in range(end - 1, first - 1, -1):
        states_back(graph, cells, slopes, fires, length, words, step)
        for start in range(0, words, WORDS):
            some = min(WORDS, words - start)
            fill_tile(code, cells, forms, states[step], tile, start)
            outputs_back(graph, cells, slopes, inputs, fires, length, start, some, step)
            gates_back(graph, slopes, inputs, forms, tile, some, 64 * (step * length + start))
            inputs_back(graph, cells, slopes, length, start, some, step)
