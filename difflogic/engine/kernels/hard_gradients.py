"""The way back through a hard circuit: values are bits, and slopes of zero are skipped.

Source: reverse-mode differentiation of bilinear gates, as in tiles.py. Here each gate's slope by an
input is 1, 0 or -1, cell by cell, and most gates have no slope to pass on in most cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import ABSENT, passes
from difflogic.engine.kernels.hard import fill_tile, reads
from difflogic.engine.kernels.llvm.slopes import (
    GateBack,
    SlopeMove,
    slope_any,
    slope_back,
    slope_move,
)
from difflogic.engine.kernels.structures import WORDS, HardRun
from difflogic.system.jit import borrowing_kernel, by_reference, part

IGNORED, STORED, ADDED = range(3)
"""What `slope_back` and `slope_move` do with the slopes that they pass on."""


@by_reference
class HardNetlist(NamedTuple):
    """A hardened netlist by rows, the inputs first."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    value: np.ndarray  # int64 (rows,): the tile's row with the values of a row
    param: np.ndarray  # int32 (rows,): the parameter that gives a gate's op
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    op: np.ndarray  # uint8 (rows,): inputs: 0
    order: np.ndarray  # int32: gates that counted channels depend on, the last one first
    channels: np.ndarray  # int32: channels that they depend on


@by_reference
class Slopes(NamedTuple):
    """The derivatives on the way back, and their sums."""

    rows: np.ndarray  # float32 (slots * CELLS,)
    place: np.ndarray  # int64 (rows,): where a row's slopes begin, or ABSENT
    free: np.ndarray  # int64 (slots,): unused places, the first room[0] of them
    room: np.ndarray  # int64 (1,)
    handed: np.ndarray  # int32 (inputs,): inputs that have slopes, the first inputs[0] of them
    inputs: np.ndarray  # int64 (1,)
    states: np.ndarray  # float32 (2, channels, cells of padded words): by the states around a step
    found: np.ndarray  # float64 (4,)
    sums: np.ndarray  # float64 (parameters, 4): Σg, Σga, Σgb, Σgab
    kept_at: np.ndarray  # int32 (rows,): where `kept` holds a row's slopes, or ABSENT
    kept: np.ndarray  # float32 (…, cells of all steps)


@by_reference
class WayBack(NamedTuple):
    """What a backward pass works with."""

    graph: HardNetlist
    run: HardRun  # with the states of all steps
    fires: np.ndarray  # uint64 (1 or steps, words), as in HardScript
    slopes: Slopes


@part
def claim(slopes, inputs, row):
    """Return where a row's slopes go, and whether they are stored or added there."""
    if slopes.place[row] != ABSENT:
        return slopes.place[row], ADDED
    slopes.room[0] -= 1
    assign(slopes, inputs, row, slopes.free[slopes.room[0]])
    return slopes.place[row], STORED


@part
def assign(slopes, inputs, row, place):
    """Make a row's slopes begin at `place`; remember inputs that have slopes."""
    slopes.place[row] = place
    if row < inputs:
        slopes.handed[slopes.inputs[0]] = row
        slopes.inputs[0] += 1


@part
def release(slopes, place):
    slopes.free[slopes.room[0]] = place
    slopes.room[0] += 1


@part
def start_of(way, time, channel, word):
    """Return where the slopes by a channel's state before step `time` begin, from a word on.

    Words include the padding.
    """
    states = way.run.states
    return 64 * ((time % 2 * states.shape[1] + channel) * states.shape[2] + word)


@part
def outputs_back(way, first, words, step):
    """Pass the slopes by the state after a step, where cells fire, to the next state's rows."""
    graph = way.graph
    slopes = way.slopes
    length = way.fires.shape[1]
    for i in range(len(graph.channels)):
        c = graph.channels[i]
        state = start_of(way, step + 1, c, way.run.cells.pad + first)
        if slope_any((slopes.states,), (state, words)):
            place, use = claim(slopes, 9 * len(graph.outputs), graph.outputs[c])
            slope_move(
                (slopes.states, slopes.rows, way.fires),
                SlopeMove(state, place, step % len(way.fires) * length + first, 0, use, words),
            )


@part
def gates_back(way, words, first):
    """Go through the gates that have slopes, the last one first.

    Slopes to keep begin at `first`, among the cells of all steps.
    """
    graph = way.graph
    slopes = way.slopes
    inputs = 9 * len(way.graph.outputs)
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
        a = graph.a[row]
        b = graph.b[row]
        op = graph.op[row]
        place_a = place_b = own
        use_a = use_b = IGNORED
        only = ABSENT
        if passes(op, False):
            only = a
        elif passes(op, True):
            only = b
        handed_on = only != ABSENT and slopes.place[only] == ABSENT
        if handed_on:  # they stay in place, unchanged
            assign(slopes, inputs, only, own)
        else:
            if reads(op, False):
                place_a, use_a = claim(slopes, inputs, a)
            if reads(op, True):
                place_b, use_b = claim(slopes, inputs, b)
        slope_back(
            (way.run.tile, slopes.rows, way.run.cells.forms, slopes.found),
            GateBack(
                graph.value[a], graph.value[b], op, own, place_a, use_a, place_b, use_b, words
            ),
        )
        for k in range(4):
            slopes.sums[graph.param[row], k] += slopes.found[k]
        if not handed_on:
            release(slopes, own)


@part
def inputs_back(way, first, words, step):
    """Pass the slopes by the inputs to the states of the cells that they see."""
    cells = way.run.cells
    slopes = way.slopes
    channels = len(way.graph.outputs)
    for i in range(slopes.inputs[0]):
        row = slopes.handed[i]
        own = slopes.place[row]
        slopes.place[row] = ABSENT
        release(slopes, own)
        state = start_of(way, step, row % channels, first)
        n = row // channels
        for s in range(cells.start[n], cells.start[n + 1]):
            target = state + 64 * cells.skip[s] + np.int64(cells.shift[s])
            slope_move(
                (slopes.rows, slopes.states, cells.masks),
                SlopeMove(own, target, s * way.fires.shape[1] + first, 0, ADDED, words),
            )
    slopes.inputs[0] = 0


@part
def states_back(way, words, step):
    """Begin the slopes by the state before a step with those of cells that do not fire."""
    slopes = way.slopes
    pad = way.run.cells.pad
    for i in range(len(way.graph.channels)):
        c = way.graph.channels[i]
        before = start_of(way, step, c, pad)
        after = start_of(way, step + 1, c, pad)
        slope_move(
            (slopes.states, slopes.states, way.fires),
            SlopeMove(after, before, step % len(way.fires) * way.fires.shape[1], 1, STORED, words),
        )


@borrowing_kernel
def differentiate(way, words, first, end):
    """Go from the state after step `end` - 1 back to the one before step `first`.

    The slopes hold the derivatives by the state after the last step. Only the first `words` of each
    row are used.
    """
    for step in range(end - 1, first - 1, -1):
        states_back(way, words, step)
        for start in range(0, words, WORDS):
            some = min(WORDS, words - start)
            fill_tile(way.run, way.run.states[step], start)
            outputs_back(way, start, some, step)
            gates_back(way, some, 64 * (step * way.fires.shape[1] + start))
            inputs_back(way, start, some, step)
