"""Steps of a candidate in which so much differs from the base that everything is evaluated.

To follow differences from gate to gate takes a lot per gate: what is known of each input, a
comparison, and marks for its readers. Where many gates differ it is sooner to evaluate all of
them, one after the other, from a list that says nothing but where two rows lie and where the
result goes. The base still gives what is seen of channels that do not differ.

A *block* is words that no cell's neighbourhood leaves: the rest of the rollout is taken block by
block, and a candidate that gets too many bits wrong in the first needs no other.
"""

from __future__ import annotations

from difflogic.engine.kernels.changes import ALWAYS, DIFFERING, UNORDERED
from difflogic.engine.kernels.primitives import (
    hard_advance,
    hard_copy,
    hard_count,
    hard_list,
    hard_view,
)
from difflogic.jit import inlined, part

X, Y, TARGET, FORM = range(4)
"""Columns of a record: where a gate's inputs begin, and what it writes; where its op's form does.
Of an input row: its channel, its neighbour, and what it writes."""


@part
def list_rows(base, own):
    """List the rows whose values the base keeps, in their order; return how many there are."""
    if own.ordered[0] == UNORDERED:
        size = 0
        for row in range(len(base.op)):
            if base.live[row] and base.source[row] == row:
                own.order[size] = row
                size += 1
        own.ordered[0] = size
    return own.ordered[0]


@inlined
def list_own(base, own):
    """List what is evaluated in the candidate and not in the base, ascending; return how many."""
    size = 0
    for i in range(own.sizes[ALWAYS]):
        row = own.always[i]
        if base.live[row] and base.source[row] == row:
            continue
        place = size
        while place > 0 and own.stack[place - 1] > row:
            own.stack[place] = own.stack[place - 1]
            place -= 1
        own.stack[place] = row
        size += 1
    return size


@inlined
def write_records(wiring, base, own, block):
    """Write a record for each row of the candidate; return how many are inputs, and gates."""
    size, more = list_rows(base, own), list_own(base, own)
    channels = len(own.channels)
    inputs, gates, i, j = 0, 0, 0, 0
    while i < size or j < more:
        if j == more or (i < size and own.order[i] < own.stack[j]):
            row = own.order[i]
            i += 1
        else:
            row = own.stack[j]
            j += 1
        number = inputs + gates
        own.records[number, TARGET] = own.slot[row] * block
        if row < wiring.inputs:
            own.records[number, X] = row % channels
            own.records[number, Y] = row // channels
            own.records[number, FORM] = base.live[row]
            inputs += 1
        else:
            own.records[number, X] = own.slot[own.source[wiring.a[row]]] * block
            own.records[number, Y] = own.slot[own.source[wiring.b[row]]] * block
            own.records[number, FORM] = 4 * own.op[row]
            gates += 1
    return inputs, gates


@inlined
def see_block(cells, history, own, inputs, step, first, block, slots):
    """Write what the inputs hold in a block: the base's values where their channel is as there."""
    words, stride, channels = own.values.shape[1], own.states.shape[1], len(own.channels)
    even = step % 2
    for i in range(inputs):
        c, target = own.records[i, X], own.records[i, TARGET]
        differs = own.differs[even, c]
        if not differs and own.records[i, FORM]:
            place = (step * slots + target // block) * words + first
            hard_copy((own.values, history.values), (target, place, block))
        else:
            neighbor = own.records[i, Y]
            row = even * channels + c if differs else step * channels + c
            hard_view(
                (own.values, own.states, history.states, cells.skip, cells.shift, cells.masks),
                (
                    target, differs, row * stride + first, cells.start[neighbor],
                    cells.start[neighbor + 1], first, words, block,
                ),
            )  # fmt: skip


@inlined
def advance_block(wiring, base, cells, script, history, own, step, first, block):
    """Write all channels' states after a step in a block, and find which differ there."""
    words, stride, channels = own.values.shape[1], own.states.shape[1], len(own.channels)
    even = step % 2
    fire = step % len(script.fires) * words + first
    keep = step % len(script.keeps) * words + first
    for c in range(channels):
        if own.channels[c]:
            differed, place = own.differs[even, c], cells.pad + first
            before = even * channels + c if differed else step * channels + c
            found = hard_advance(
                (own.values, own.states, history.states, script.fires, script.keeps),
                (
                    own.slot[own.source[wiring.outputs[c]]] * block, differed,
                    before * stride + place, ((1 - even) * channels + c) * stride + place,
                    ((step + 1) * channels + c) * stride + place, fire, keep, block,
                ),
            )  # fmt: skip
            own.differs[1 - even, c] = found != 0 or not base.channels[c]


@inlined
def count_block(cells, script, history, own, step, counts, first, block):
    """Return how many bits of a block are wrong after a step."""
    words, stride, channels = own.values.shape[1], own.states.shape[1], len(own.channels)
    total, even = 0, step % 2
    first_target = counts % len(script.targets) * len(script.channels)
    for i in range(len(script.channels)):
        c = script.channels[i]
        differs = own.differs[1 - even, c]
        row = (1 - even) * channels + c if differs else (step + 1) * channels + c
        total += hard_count(
            (own.states, history.states, script.targets, script.counted),
            (
                differs, row * stride + cells.pad + first, (first_target + i) * words + first,
                first, block,
            ),
        )  # fmt: skip
    return total


@inlined
def go_on_whole(
    wiring, base, cells, forms, script, steps, history, own, begun, counts, total, most
):
    """Take a candidate's steps from `begun` on, block by block, until more than `most` are wrong.

    Before, so many bits of so many `counts` were wrong in `total`. Returns what it comes to.
    """
    block = history.block
    inputs, gates = write_records(wiring, base, own, block)
    slots = len(base.free)
    for first in range(0, own.values.shape[1], block):
        own.differs[begun % 2] = False
        for i in range(own.sizes[DIFFERING]):
            own.differs[begun % 2, own.differing[i]] = True
        counted = counts
        for step in range(begun, steps):
            see_block(cells, history, own, inputs, step, first, block, slots)
            hard_list((own.values, own.records, forms), (inputs, inputs + gates, block))
            advance_block(wiring, base, cells, script, history, own, step, first, block)
            if counted < len(script.at) and script.at[counted] == step + 1:
                total += count_block(cells, script, history, own, step, counted, first, block)
                counted += 1
                if total > most:
                    return total
    return total
