"""The circuit that candidates of a search differ from: its gates, its readers, all its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.hard import ones, reads, spread
from difflogic.engine.kernels.hard_structures import WORDS
from difflogic.engine.kernels.primitives import hard_gate, hard_view, hard_write
from difflogic.jit import borrowing_kernel, part

ABSENT = -1
"""Stands for what is not there: an input's parameter, the link before the first."""

NOWHERE = 0
"""The slot of rows whose values are not kept. It exists: inputs that an op ignores are read."""


class Wiring(NamedTuple):
    """A netlist by rows, the inputs first, with what reads each row. It never changes."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    param: np.ndarray  # int32 (rows,): whose op a gate has; inputs: ABSENT
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int
    wire_start: np.ndarray  # int32 (rows + 1,): gates wired to a row
    wires: np.ndarray  # int32: twice the gate's row, and one more where it is its second input
    exit_start: np.ndarray  # int32 (rows + 1,): channels whose next state is a row
    exits: np.ndarray  # int32
    use_start: np.ndarray  # int32 (parameters + 1,): rows of the gates that have a parameter's op
    uses: np.ndarray  # int32


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
    reader_start: np.ndarray  # int32 (rows + 1,): what reads a source's values, and perhaps more:
    readers: np.ndarray  # int32: gates by their rows, channels by as many rows as there are on top
    later: np.ndarray  # int32 (rows,): the last link of those that read it since, or ABSENT
    links: np.ndarray  # int32 (8 * rows, 2): a reader, and the link before it
    linked: np.ndarray  # int64 (1,): links so far


class History(NamedTuple):
    """All values of the base, as packed words, and how wrong it is."""

    values: np.ndarray  # uint64 (steps * slots, words)
    states: np.ndarray  # uint64 ((steps + 1) * channels, pad + words + pad): of live channels
    wrong: np.ndarray  # int64 (counts, loss channels): bits that differ from the target
    block: int  # words of whole samples, which no cell's neighbourhood leaves: see whole_steps.py


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
def list_readers(wiring, base):
    """Write for each source what reads its values, through pass-throughs or not."""
    rows, start = len(base.op), base.reader_start
    start[:] = 0
    base.later[:] = ABSENT
    base.linked[0] = 0
    for filling in range(2):
        for row in range(wiring.inputs, rows):
            if base.live[row] and base.source[row] == row:
                for second in range(2):
                    if reads(base.op[row], second):
                        source = base.source[wiring.b[row] if second else wiring.a[row]]
                        if filling:
                            base.readers[start[source]] = row
                        start[source + (0 if filling else 1)] += 1
        for c in range(len(base.channels)):
            if base.channels[c]:
                source = base.source[wiring.outputs[c]]
                if filling:
                    base.readers[start[source]] = rows + c
                start[source + (0 if filling else 1)] += 1
        if not filling:
            for row in range(rows):
                start[row + 1] += start[row]
    for row in range(rows, 0, -1):
        start[row] = start[row - 1]
    start[0] = 0


@part
def link(base, source, reader):
    """Add a reader of a source's values."""
    number = base.linked[0]
    base.links[number, 0], base.links[number, 1] = reader, base.later[source]
    base.later[source] = number
    base.linked[0] += 1


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
    list_readers(wiring, base)


@part
def release(base, row):
    """Keep the values of a row no longer."""
    if base.slot[row] != NOWHERE:
        base.free[base.room[0]] = base.slot[row]
        base.room[0] += 1
        base.slot[row] = NOWHERE


# Rows are named by array and number: views of them would cost more than what is done to them.


@part
def advance(script, step, pad, values, row, old, old_channel, states, channel):
    """Write a channel's state after a step to the row `channel` of `states`.

    It is values[row] where cells fire, else what the row `old_channel` of `old` has, and 0 where
    they are damaged. The script has masks for both, for each step or for all.
    """
    words, stride = values.shape[1], states.shape[1]
    fire, keep = step % len(script.fires) * words, step % len(script.keeps) * words
    for first in range(0, words, WORDS):
        hard_write(
            (values, old, states, script.fires, script.keeps),
            (
                (row * words + first) // WORDS, old_channel * stride + pad + first,
                channel * stride + pad + first, fire + first, keep + first,
            ),
        )  # fmt: skip


@part
def count_differing(states, row, pad, script, counts, place):
    """Return how many counted bits of a channel, the `place`-th that counts, are wrong.

    Its state is the row of `states`.
    """
    total, count = 0, counts % len(script.targets)
    for w in range(len(script.counted)):
        differing = states[row, pad + w] ^ script.targets[count, place, w]
        total += ones(differing & script.counted[w])
    return total


@borrowing_kernel
def simulate_base(wiring, base, cells, forms, script, steps, history, order):
    """Fill the History of `base` from its first states. `order` (rows,) is room to work in."""
    channels, slots, words = len(base.channels), len(base.free), history.values.shape[1]
    values, states = history.values, history.states
    size = 0
    for row in range(len(base.op)):
        if base.live[row] and base.source[row] == row:
            order[size] = row
            size += 1
    counts = 0
    for step in range(steps):
        first, before, after = step * slots, step * channels, (step + 1) * channels
        for i in range(size):
            row = order[i]
            place = first + base.slot[row]
            if row < wiring.inputs:
                state = (before + row % channels) * states.shape[1]
                start, end = cells.start[row // channels], cells.start[row // channels + 1]
                hard_view(
                    (values, states, states, cells.skip, cells.shift, cells.masks),
                    (place * words, 0, state, start, end, 0, words, words),
                )
            else:
                x, y = base.source[wiring.a[row]], base.source[wiring.b[row]]
                x_place, y_place = first + base.slot[x], first + base.slot[y]
                hard_gate(
                    (values, values, forms),
                    (
                        x_place * words, 0, y_place * words, 0, base.op[row], place * words,
                        place * words, words,
                    ),
                )  # fmt: skip
        for c in range(channels):
            if base.channels[c]:
                place = first + base.slot[base.source[wiring.outputs[c]]]
                advance(
                    script, step, cells.pad, values, place, states, before + c, states, after + c
                )
        if counts < len(script.at) and script.at[counts] == step + 1:
            for i in range(len(script.channels)):
                history.wrong[counts, i] = count_differing(
                    states, after + script.channels[i], cells.pad, script, counts, i
                )
            counts += 1
