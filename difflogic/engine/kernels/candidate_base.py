"""The circuit that candidates of a search differ from: its gates, and all its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.hard import spread
from difflogic.engine.kernels.primitives import hard_advance, hard_gate, hard_view
from difflogic.system.jit import borrowing_kernel, by_reference, part

ABSENT = -1
"""Stands for what is not there: an input's parameter, the link before the first."""

NOWHERE = 0
"""The slot of rows whose values are not kept. It exists: inputs that an op ignores are read."""


@by_reference
class Wiring(NamedTuple):
    """A netlist by rows, the inputs first, with the gates wired to each. It never changes."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    param: np.ndarray  # int32 (rows,): whose op a gate has; inputs: ABSENT
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int
    wire_start: np.ndarray  # int32 (rows + 1,): gates wired to a row
    wires: np.ndarray  # int32: twice the gate's row, and one more where it is its second input
    use_start: np.ndarray  # int32 (parameters + 1,): rows of the gates that have a parameter's op
    uses: np.ndarray  # int32


@by_reference
class Base(NamedTuple):
    """The circuit that candidates differ from. It takes over the changes that are kept.

    A gate that passes an input on shares the values of that input's `source`, so that values never
    travel through chains of pass-throughs.
    """

    op: np.ndarray  # uint8 (rows,): inputs: 0
    source: np.ndarray  # int32 (rows,): itself, but for pass-throughs
    live: np.ndarray  # bool (rows,): all that counted channels depend on, and perhaps some more
    channels: np.ndarray  # bool (channels,): the same of channels
    slot: np.ndarray  # int32 (rows,): of the values that are kept: those of live sources
    free: np.ndarray  # int32 (slots,): slots that nothing is kept in, up to `room`
    room: np.ndarray  # int64 (1,)


@by_reference
class History(NamedTuple):
    """All values of the base, as packed words."""

    values: np.ndarray  # uint64 (steps * slots, words)
    states: np.ndarray  # uint64 ((steps + 1) * channels, pad + words + pad): of live channels
    block: (
        int  # words of whole samples, which no cell's neighbourhood leaves: see candidate_steps.py
    )


@part
def passes(op, second):
    """Return whether an op passes on its second input, or else its first."""
    return op == (5 if second else 3)


@borrowing_kernel
def settle(wiring, base, ops, counted, stack):
    """Make `base` the circuit with `ops` (parameters,); return how many rows have values to keep.

    They have no slots yet.
    """
    base.live[:] = False
    base.channels[:] = False
    for row in range(len(base.op)):
        base.op[row] = ops[wiring.param[row]] if row >= wiring.inputs else 0
        base.source[row], base.slot[row] = row, NOWHERE
        if passes(base.op[row], False):
            base.source[row] = base.source[wiring.a[row]]
        elif passes(base.op[row], True):
            base.source[row] = base.source[wiring.b[row]]
    spread(
        wiring.a,
        wiring.b,
        wiring.outputs,
        wiring.inputs,
        base.op,
        counted,
        base.live,
        base.channels,
        stack,
    )
    kept = 0
    for row in range(len(base.op)):
        kept += base.live[row] and base.source[row] == row
    return kept


@borrowing_kernel
def find_slots(base):
    """Give a slot to each row whose values are kept; there are enough."""
    base.room[0] = 0
    for slot in range(len(base.free) - 1, NOWHERE, -1):
        base.free[base.room[0]] = slot
        base.room[0] += 1
    for row in range(len(base.op)):
        if base.live[row] and base.source[row] == row:
            base.room[0] -= 1
            base.slot[row] = base.free[base.room[0]]


@borrowing_kernel
def tidy(wiring, base, counted, live, channels, stack):
    """Drop what the counted channels do not depend on any more.

    `live` (rows,) and `channels` are room to work in.
    """
    live[:] = False
    channels[:] = False
    spread(
        wiring.a, wiring.b, wiring.outputs, wiring.inputs, base.op, counted, live, channels, stack
    )
    for row in range(len(live)):
        if base.live[row] and not live[row]:
            base.live[row] = False
            release(base, row)
    for c in range(len(channels)):
        base.channels[c] = channels[c]


@part
def release(base, row):
    """Keep the values of a row no longer."""
    if base.slot[row] != NOWHERE:
        base.free[base.room[0]] = base.slot[row]
        base.room[0] += 1
        base.slot[row] = NOWHERE


@part
def list_sources(base, order):
    """Write the rows whose values the base keeps to `order`, ascending; return how many."""
    size = 0
    for row in range(len(base.op)):
        if base.live[row] and base.source[row] == row:
            order[size] = row
            size += 1
    return size


@borrowing_kernel
def simulate_base(wiring, base, cells, forms, script, steps, history, order):
    """Fill the History of `base` from its first states. `order` (rows,) is room to work in."""
    channels, slots, words = len(base.channels), len(base.free), history.values.shape[1]
    values, states, stride = history.values, history.states, history.states.shape[1]
    size = list_sources(base, order)
    for step in range(steps):
        first, before, after = step * slots, step * channels, (step + 1) * channels
        for i in range(size):
            row = order[i]
            place = (first + base.slot[row]) * words
            if row < wiring.inputs:
                state = (before + row % channels) * stride
                start, end = cells.start[row // channels], cells.start[row // channels + 1]
                hard_view(
                    (values, states, states, cells.skip, cells.shift, cells.masks),
                    (place, 0, state, start, end, 0, words, words),
                )
            else:
                x, y = base.source[wiring.a[row]], base.source[wiring.b[row]]
                x_place, y_place = first + base.slot[x], first + base.slot[y]
                hard_gate(
                    (values, forms), (x_place * words, y_place * words, base.op[row], place, words)
                )
        fire, keep = step % len(script.fires) * words, step % len(script.keeps) * words
        for c in range(channels):
            if base.channels[c]:
                place = (first + base.slot[base.source[wiring.outputs[c]]]) * words
                target = (after + c) * stride + cells.pad
                hard_advance(
                    (values, values, states, states, script.fires, script.keeps),
                    (
                        place,
                        0,
                        (before + c) * stride + cells.pad,
                        0,
                        target,
                        target,
                        fire,
                        keep,
                        words,
                    ),
                )
