"""Circuits that differ from the base in one gate, judged by what the difference reaches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import (
    ABSENT,
    NOWHERE,
    advance,
    count_differing,
    link,
    passes,
    release,
    see,
)
from difflogic.engine.kernels.hard import reads
from difflogic.engine.kernels.primitives import hard_differ, hard_gate, lowest_one
from difflogic.jit import borrowing_kernel, inlined

NO_ROOM = -1
"""Stands for the wrong bits of a candidate that more values belong to than are free."""


class Scratch(NamedTuple):
    """What a worker needs to follow one candidate.

    From `moved` on these are lists, with their lengths in `sizes`.
    """

    op: np.ndarray  # uint8 (rows,), as in Base
    source: np.ndarray  # int32 (rows,); a changed gate is its own, also where it passes an input on
    slot: np.ndarray  # int32 (rows,)
    live: np.ndarray  # bool (rows,)
    channels: np.ndarray  # bool (channels,)
    values: np.ndarray  # uint64 (slots, words): of rows that differ in this step
    stamp: np.ndarray  # int64 (rows,): the last step, over all candidates, that they differed in
    touched_in: np.ndarray  # int64 (channels,): the last that they may have differed after
    clock: np.ndarray  # int64 (1,): the number of such steps
    dirty: np.ndarray  # uint64: a bit for each row, set for gates that are to be evaluated
    filled: np.ndarray  # uint64: a bit for each word of `dirty`, set for those that have any
    states: np.ndarray  # uint64 (2 * channels, pad + words + pad): of channels that differ
    differs: np.ndarray  # bool (2, channels)
    stack: np.ndarray  # int32 (3 * rows,)
    moved: np.ndarray  # int32 (2 * rows,): rows that have another source than in the base
    added: np.ndarray  # int32 (rows,): rows that are live in the candidate only
    joined: np.ndarray  # int32 (channels,): channels that are
    always: np.ndarray  # int32 (rows,): gates that are evaluated in every step
    differing: np.ndarray  # int32 (channels,): channels that differ before a step
    touched: np.ndarray  # int32 (channels,): channels that may differ after it
    stamped: np.ndarray  # int32 (rows,): rows that differ in this step
    sizes: np.ndarray  # int64 (7,)


FOLLOWED = ("op", "source", "slot", "live", "channels")
"""Parts of a Scratch that are the base's, but while it judges."""

MOVED, ADDED, JOINED, ALWAYS, DIFFERING, TOUCHED, STAMPED = range(7)


@borrowing_kernel
def lead(wiring, own, gate, parameter):
    """Let what reads a row through pass-throughs read `gate`, its source, instead.

    Gates of the parameter that changes are sources themselves.
    """
    top = 1
    own.stack[0] = gate
    while top:
        top -= 1
        link = own.stack[top]
        for i in range(wiring.wire_start[link], wiring.wire_start[link + 1]):
            reader, second = wiring.wires[i] >> 1, wiring.wires[i] & 1
            if passes(own.op[reader], second) and wiring.param[reader] != parameter:
                own.source[reader] = own.source[gate]
                own.moved[own.sizes[MOVED]] = reader
                own.sizes[MOVED] += 1
                own.stack[top] = reader
                top += 1


@borrowing_kernel
def take_slot(base, own, row, taken):
    """Give a row a slot if it needs one; return how many are taken, or NO_ROOM."""
    if own.source[row] != row or own.slot[row] != NOWHERE:
        return taken
    if taken == base.room[0]:
        return NO_ROOM
    own.slot[row] = base.free[base.room[0] - 1 - taken]
    return taken + 1


@inlined
def alter(wiring, base, own, parameter, op):
    """Make the worker's circuit the base with `op` for a parameter.

    Returns how many of the base's free slots it takes, or NO_ROOM.
    """
    first, last = wiring.use_start[parameter], wiring.use_start[parameter + 1]
    own.sizes[:] = 0
    taken, top = 0, 0
    for i in range(first, last):
        own.op[wiring.uses[i]] = op
    for i in range(first, last):
        gate = wiring.uses[i]
        if base.source[gate] != gate:
            own.source[gate] = gate
            own.moved[own.sizes[MOVED]] = gate
            own.sizes[MOVED] += 1
            lead(wiring, own, gate, parameter)
    for i in range(first, last):
        gate = wiring.uses[i]
        if base.live[gate]:
            taken = take_slot(base, own, gate, taken)
            if taken == NO_ROOM:
                return NO_ROOM
            own.always[own.sizes[ALWAYS]] = gate
            own.sizes[ALWAYS] += 1
            own.stack[top] = gate
            top += 1
    while top:
        top -= 1
        row = own.stack[top]
        for second in range(2):
            if row < wiring.inputs:
                c = row % len(own.channels)
                if own.channels[c]:
                    continue
                own.channels[c] = True
                own.joined[own.sizes[JOINED]] = c
                own.sizes[JOINED] += 1
                reached = wiring.outputs[c]
            elif reads(own.op[row], second):
                reached = wiring.b[row] if second else wiring.a[row]
            else:
                continue
            if own.live[reached]:
                continue
            own.live[reached] = True
            own.added[own.sizes[ADDED]] = reached
            own.sizes[ADDED] += 1
            taken = take_slot(base, own, reached, taken)
            if taken == NO_ROOM:
                return NO_ROOM
            if own.source[reached] == reached:
                own.always[own.sizes[ALWAYS]] = reached
                own.sizes[ALWAYS] += 1
            own.stack[top] = reached
            top += 1
    return taken


@inlined
def restore(wiring, base, own, parameter):
    """Make the worker's circuit the base again."""
    for i in range(wiring.use_start[parameter], wiring.use_start[parameter + 1]):
        gate = wiring.uses[i]
        own.op[gate], own.slot[gate] = base.op[gate], base.slot[gate]
    for i in range(own.sizes[MOVED]):
        own.source[own.moved[i]] = base.source[own.moved[i]]
    for i in range(own.sizes[ADDED]):
        own.live[own.added[i]] = False
        own.slot[own.added[i]] = NOWHERE
    for i in range(own.sizes[JOINED]):
        own.channels[own.joined[i]] = False


@borrowing_kernel
def touch(own, channel, now):
    """Let a channel's state be looked at after this step."""
    if own.channels[channel] and own.touched_in[channel] != now:
        own.touched_in[channel] = now
        own.touched[own.sizes[TOUCHED]] = channel
        own.sizes[TOUCHED] += 1


@borrowing_kernel
def mark(own, row):
    """Let a gate be evaluated in this step."""
    own.dirty[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    own.filled[row >> 12] |= np.uint64(1) << np.uint64((row >> 6) & 63)


@inlined
def reach(wiring, base, own, row, now):
    """Let all that reads a source, through pass-throughs or not, be evaluated in this step."""
    if base.source[row] != row:
        reach_through(wiring, own, row, now)
        return
    place, later = base.reader_start[row], base.later[row]
    while True:
        if place < base.reader_start[row + 1]:
            reader = base.readers[place]
            place += 1
        elif later != ABSENT:
            reader, later = base.links[later, 0], base.links[later, 1]
        else:
            break
        if reader >= len(own.op):
            touch(own, reader - len(own.op), now)
        elif own.source[reader] == reader:
            mark(own, reader)


@borrowing_kernel
def reach_through(wiring, own, row, now):
    """Do what `reach` does for a gate that is a source in the candidate only."""
    top = 1
    own.stack[0] = row
    while top:
        top -= 1
        passed = own.stack[top]
        for i in range(wiring.exit_start[passed], wiring.exit_start[passed + 1]):
            touch(own, wiring.exits[i], now)
        for i in range(wiring.wire_start[passed], wiring.wire_start[passed + 1]):
            reader, second = wiring.wires[i] >> 1, wiring.wires[i] & 1
            if not own.live[reader]:
                continue
            if own.source[reader] == reader:
                mark(own, reader)
            elif passes(own.op[reader], second):
                own.stack[top] = reader
                top += 1


@inlined
def mark_changes(wiring, base, own, even):
    """Mark what may differ in a step whatever else does: it is evaluated.

    Inputs are, where their channel differs, and gates that only the candidate has.
    """
    channels = len(own.channels)
    for place in range(own.sizes[DIFFERING]):
        for neighbor in range(9):
            row = neighbor * channels + own.differing[place]
            if base.live[row]:
                mark(own, row)
    for i in range(own.sizes[ALWAYS]):
        mark(own, own.always[i])


@inlined
def evaluate(wiring, base, cells, forms, history, own, step, now):
    """Evaluate all rows that are marked, in their order, and what their differences reach."""
    values, known, words = own.values, history.values, own.values.shape[1]
    channels, even, first = len(own.channels), step % 2, step * len(base.free)
    own.sizes[STAMPED] = 0
    for group in range(len(own.filled)):
        while own.filled[group]:
            block = 64 * group + lowest_one(own.filled[group])
            while own.dirty[block]:
                row = 64 * block + lowest_one(own.dirty[block])
                own.dirty[block] &= own.dirty[block] - np.uint64(1)
                place = own.slot[row]
                if row >= wiring.inputs:
                    x, y = own.source[wiring.a[row]], own.source[wiring.b[row]]
                    # Each input as it differs in this step, or else as it is in the base.
                    x_own, y_own = own.stamp[x] == now, own.stamp[y] == now
                    x_place = own.slot[x] if x_own else first + own.slot[x]
                    y_place = own.slot[y] if y_own else first + own.slot[y]
                    hard_gate(
                        (values, known, forms),
                        (
                            x_place * words, x_own, y_place * words, y_own, own.op[row],
                            place * words, words,
                        ),
                    )  # fmt: skip
                else:
                    c = row % channels
                    if own.differs[even, c]:
                        see(cells, own.states, even * channels + c, row // channels, values, place)
                    else:
                        before = step * channels + c
                        see(cells, history.states, before, row // channels, values, place)
                origin = base.source[row]
                if not base.live[row]:
                    own.stamp[row] = now  # what reads it is evaluated anyway
                elif hard_differ(
                    (values, known), (place * words, (first + base.slot[origin]) * words, words)
                ):
                    own.stamp[row] = now
                    own.stamped[own.sizes[STAMPED]] = row
                    own.sizes[STAMPED] += 1
                    reach(wiring, base, own, row, now)
                elif origin != row:
                    own.stamp[row] = now  # the base keeps no values of it
            own.filled[group] &= own.filled[group] - np.uint64(1)


@inlined
def write_states(wiring, base, cells, script, history, own, step, now):
    """Write the states of channels that may differ after a step, and find those that do."""
    channels, words, stride = len(own.channels), own.values.shape[1], history.states.shape[1]
    even, first, pad = step % 2, step * len(base.free), cells.pad
    for i in range(own.sizes[DIFFERING]):
        touch(own, own.differing[i], now)
    differing = 0
    for i in range(own.sizes[TOUCHED]):
        c = own.touched[i]
        row, differed = own.source[wiring.outputs[c]], own.differs[even, c]
        place = own.slot[row]
        was, target = even * channels + c, (1 - even) * channels + c
        before, after = step * channels + c, (step + 1) * channels + c
        moved = (script, step, pad)
        if own.stamp[row] == now and differed:
            advance(*moved, own.values, place, own.states, was, own.states, target)
        elif own.stamp[row] == now:
            advance(*moved, own.values, place, history.states, before, own.states, target)
        elif differed:
            place += first
            advance(*moved, history.values, place, own.states, was, own.states, target)
        else:
            continue  # what it read before reached it
        differs = not base.channels[c] or hard_differ(
            (own.states, history.states), (target * stride + pad, after * stride + pad, words)
        )
        own.differs[even, c], own.differs[1 - even, c] = False, differs
        if differs:
            own.differing[differing] = c
            differing += 1
    own.sizes[DIFFERING], own.sizes[TOUCHED] = differing, 0


@inlined
def begin(history, own):
    """Let the channels that only the candidate reads differ from the first step on."""
    own.differs[:] = False
    for i in range(own.sizes[JOINED]):
        c = own.joined[i]
        for w in range(own.states.shape[1]):
            own.states[c, w] = history.states[c, w]
        own.differs[0, c] = True
        own.differing[i] = c
    own.sizes[DIFFERING], own.sizes[TOUCHED] = own.sizes[JOINED], 0


@inlined
def count(script, history, own, counts, even, pad):
    """Return how many bits are wrong at one count, `even` being the step's that it is after."""
    total = 0
    for i in range(len(script.channels)):
        c = script.channels[i]
        if own.differs[1 - even, c]:
            row = (1 - even) * len(own.channels) + c
            total += count_differing(own.states, row, pad, script, counts, i)
        else:
            total += history.wrong[counts, i]
    return total


@inlined
def leave_behind(base, cells, script, history, own, step, counts):
    """Write to the base's history what differs in a step; the base's own is not asked for again.

    With `counts` at least 0, the wrong bits of that count, too.
    """
    channels, words, even, pad = len(own.channels), own.values.shape[1], step % 2, cells.pad
    first, after = step * len(base.free), (step + 1) * channels
    for i in range(own.sizes[STAMPED] + own.sizes[ALWAYS]):
        place = i - own.sizes[STAMPED]
        slot = own.slot[own.stamped[i] if place < 0 else own.always[place]]
        for w in range(words):
            history.values[first + slot, w] = own.values[slot, w]
    for i in range(own.sizes[DIFFERING]):
        c = own.differing[i]
        for w in range(pad, pad + words):
            history.states[after + c, w] = own.states[(1 - even) * channels + c, w]
    if counts >= 0:
        for i in range(len(script.channels)):
            c = script.channels[i]
            if own.differs[1 - even, c]:
                history.wrong[counts, i] = count_differing(
                    history.states, after + c, pad, script, counts, i
                )


@inlined
def count_gates(wiring, own, counted):
    """Return how many gates the counted channels depend on; pass-throughs are none.

    `own` holds the candidate's circuit, and is left as it is but for its stack and stamps.
    """
    own.clock[0] += 1
    now = own.clock[0]
    top, gates = 0, 0
    for i in range(len(counted)):
        own.touched_in[counted[i]] = now
        own.stack[top] = own.source[wiring.outputs[counted[i]]]
        top += 1
    while top:
        top -= 1
        row = own.stack[top]
        if own.stamp[row] == now:
            continue
        own.stamp[row] = now
        if row < wiring.inputs:
            c = row % len(own.channels)
            if own.touched_in[c] != now:
                own.touched_in[c] = now
                own.stack[top] = own.source[wiring.outputs[c]]
                top += 1
            continue
        op = own.op[row]
        # A changed gate may pass an input on by now; others that do are no sources.
        gates += op != 3 and op != 5
        if reads(op, False):
            own.stack[top] = own.source[wiring.a[row]]
            top += 1
        if reads(op, True):
            own.stack[top] = own.source[wiring.b[row]]
            top += 1
    return gates


@inlined
def adopt(wiring, base, own, parameter, taken):
    """Make the worker's circuit, altered in a parameter, the base's, and its slots."""
    first, last = wiring.use_start[parameter], wiring.use_start[parameter + 1]
    op = base.op[wiring.uses[first]] if first < last else 0
    was_passing = passes(op, False) or passes(op, True)
    base.room[0] -= taken
    for i in range(own.sizes[ALWAYS]):
        base.slot[own.always[i]] = own.slot[own.always[i]]
    for i in range(first, last):
        gate = wiring.uses[i]
        base.op[gate] = own.op[gate]
        # So far it was a source itself.
        for second in range(2):
            if passes(own.op[gate], second):
                own.source[gate] = own.source[wiring.b[gate] if second else wiring.a[gate]]
                lead(wiring, own, gate, parameter)
                if base.slot[gate] != NOWHERE:
                    release(base, gate)
                own.slot[gate] = NOWHERE
    for i in range(first, last):
        base.source[wiring.uses[i]] = own.source[wiring.uses[i]]
    for i in range(own.sizes[MOVED]):
        base.source[own.moved[i]] = own.source[own.moved[i]]
    for i in range(own.sizes[ADDED]):
        base.live[own.added[i]] = True
    for i in range(own.sizes[JOINED]):
        base.channels[own.joined[i]] = True
        source = own.source[wiring.outputs[own.joined[i]]]
        link(base, source, len(own.op) + own.joined[i])
    for i in range(own.sizes[ALWAYS]):
        row = own.always[i]
        for second in range(2):
            if reads(own.op[row], second) and own.source[row] == row:
                link(base, own.source[wiring.b[row] if second else wiring.a[row]], row)
    for i in range(first, last):
        if was_passing or own.source[wiring.uses[i]] != wiring.uses[i]:
            link_through(wiring, base, own, wiring.uses[i])


@borrowing_kernel
def link_through(wiring, base, own, gate):
    """Let what reads a gate through pass-throughs be known as readers of its source."""
    top = 1
    own.stack[0] = gate
    while top:
        top -= 1
        passed = own.stack[top]
        for i in range(wiring.exit_start[passed], wiring.exit_start[passed + 1]):
            if base.channels[wiring.exits[i]]:
                link(base, own.source[gate], len(own.op) + wiring.exits[i])
        for i in range(wiring.wire_start[passed], wiring.wire_start[passed + 1]):
            reader, second = wiring.wires[i] >> 1, wiring.wires[i] & 1
            if own.source[reader] != reader:
                if passes(own.op[reader], second):
                    own.stack[top] = reader
                    top += 1
            elif base.live[reader] and reads(own.op[reader], second):
                link(base, own.source[gate], reader)


@borrowing_kernel
def judge_share(
    wiring, base, cells, forms, script, steps, history, own, parameters, ops, limit, keep, first,
    stride, stop, hit, wrong, gates,
):  # fmt: skip
    """Judge every `stride`-th candidate from `first` on, (parameters, ops), into `wrong`.

    Where no more are wrong than `limit`, `gates` is how many the counted channels depend on.
    Workers pass over what comes after a candidate with no more than `stop`: `hit` (1,) is one
    of these, a late one perhaps, as two may write at once; nothing before the first is passed over.
    With `keep` the base takes each over, and `own`, the worker's Scratch, with it: then nobody
    else may be at it.
    """
    for i in range(first, len(parameters), stride):
        if i > hit[0]:
            return
        parameter, total, counts = parameters[i], 0, 0
        taken = alter(wiring, base, own, parameter, ops[i])
        begin(history, own)
        for step in range(steps if taken != NO_ROOM else 0):
            own.clock[0] += 1
            now = own.clock[0]
            mark_changes(wiring, base, own, step % 2)
            evaluate(wiring, base, cells, forms, history, own, step, now)
            write_states(wiring, base, cells, script, history, own, step, now)
            counted = counts < len(script.at) and script.at[counts] == step + 1
            if counted:
                total += count(script, history, own, counts, step % 2, cells.pad)
            if keep:
                leave_behind(base, cells, script, history, own, step, counts if counted else -1)
            counts += counted
            if total > limit:
                break
        if taken == NO_ROOM:
            total = NO_ROOM
        wrong[i], gates[i] = total, 0
        if keep and total != NO_ROOM:
            adopt(wiring, base, own, parameter, taken)
            continue
        if NO_ROOM < total <= limit:
            gates[i] = count_gates(wiring, own, script.channels)
        restore(wiring, base, own, parameter)
        # NO_ROOM is less than any number: nothing after it need be told either.
        if total <= stop and i < hit[0]:
            hit[0] = i
