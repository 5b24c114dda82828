"""A candidate, the base with another op of one parameter: made, undone, taken over by the base.

A step evaluates a list of *records*, one for each row of the candidate that has values, in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import NOWHERE, list_sources, passes, release
from difflogic.engine.kernels.hard import reads
from difflogic.engine.kernels.structures import FORCED, SPECIAL, Marks
from difflogic.system.jit import by_reference, part

NO_ROOM = -1
"""Stands for a candidate that needs more values than there are free slots."""


@by_reference
class Scratch(NamedTuple):
    """What a worker needs to judge one candidate.

    From `moved` on the fields are lists; their lengths are in `sizes`.
    """

    op: np.ndarray  # uint8 (rows,), as in Base
    source: np.ndarray  # int32 (rows,): changed gates, even pass-throughs, are their own source
    slot: np.ndarray  # int32 (rows,)
    live: np.ndarray  # bool (rows,)
    channels: np.ndarray  # bool (channels,)
    values: np.ndarray  # uint64 (slots, words): of rows that differ in this step, or of all rows
    flags: np.ndarray  # uint8 (slots,): whether to read `values` in this step, or the base's
    records: np.ndarray  # int32 (rows, 4): one for each evaluated row, in order
    leaving: np.ndarray  # int32 (channels, 2): live channels and their next states' slots
    states: np.ndarray  # uint64 (2 * channels, pad + words + pad): of channels that differ
    differs: np.ndarray  # bool (2, channels)
    marks: Marks  # of the last count of gates
    order: np.ndarray  # int32 (rows,): rows whose values the base keeps, ascending
    ordered: np.ndarray  # int64 (1,): length of `order`, or UNORDERED
    stack: np.ndarray  # int32 (3 * rows,)
    moved: np.ndarray  # int32 (2 * rows,): rows whose source is not the base's
    added: np.ndarray  # int32 (rows,): rows that are live in the candidate only
    joined: np.ndarray  # int32 (channels,): channels that are live in the candidate only
    always: np.ndarray  # int32 (rows,): rows that are evaluated in every step
    differing: np.ndarray  # int32 (channels,): channels that differ before a step
    changed: np.ndarray  # int32 (2 * rows,): slots that differ in this step, perhaps twice
    special: np.ndarray  # int32 (rows,): evaluated rows that have no slot in the base
    sizes: np.ndarray  # int64 (11,)


FOLLOWED = ("op", "source", "slot", "live", "channels")
"""Fields of a Scratch that equal the base's except while a candidate is judged."""

MOVED, ADDED, JOINED, ALWAYS, DIFFERING, CHANGED, LEAVING, SIZE, INPUTS, FIRST, LAST = range(11)
"""SIZE and INPUTS are the numbers of records, and of those of inputs. FIRST and LAST are the places
between which records are always evaluated. The others are lengths."""

UNORDERED = -1
"""Stands for the number of rows of a base that are not listed yet."""


@part
def redirect_readers(wiring, scratch, gate, parameter):
    """Give the pass-throughs that read `gate`, directly or not, its source.

    Gates of the parameter that changes stay their own sources.
    """
    top = 1
    scratch.stack[0] = gate
    while top:
        top -= 1
        link = scratch.stack[top]
        for i in range(wiring.wire_start[link], wiring.wire_start[link + 1]):
            reader = wiring.wires[i] >> 1
            second = wiring.wires[i] & 1
            if passes(scratch.op[reader], second) and wiring.param[reader] != parameter:
                scratch.source[reader] = scratch.source[gate]
                scratch.moved[scratch.sizes[MOVED]] = reader
                scratch.sizes[MOVED] += 1
                scratch.stack[top] = reader
                top += 1


@part
def take_slot(base, scratch, row, taken):
    """Give a row a slot if it needs one; return how many are taken, or NO_ROOM."""
    if scratch.source[row] != row or scratch.slot[row] != NOWHERE:
        return taken
    if taken == base.room[0]:
        return NO_ROOM
    scratch.slot[row] = base.free[base.room[0] - 1 - taken]
    return taken + 1


@part
def alter(wiring, base, scratch, parameter, op):
    """Make the worker's circuit the base with `op` for a parameter.

    Returns the number of the base's free slots that it takes, or NO_ROOM.
    """
    first = wiring.use_start[parameter]
    last = wiring.use_start[parameter + 1]
    scratch.sizes[:] = 0
    taken = 0
    top = 0
    for i in range(first, last):
        scratch.op[wiring.uses[i]] = op
    for i in range(first, last):
        gate = wiring.uses[i]
        if base.source[gate] != gate:
            scratch.source[gate] = gate
            scratch.moved[scratch.sizes[MOVED]] = gate
            scratch.sizes[MOVED] += 1
            redirect_readers(wiring, scratch, gate, parameter)
    for i in range(first, last):
        gate = wiring.uses[i]
        if base.live[gate]:
            taken = take_slot(base, scratch, gate, taken)
            if taken == NO_ROOM:
                return NO_ROOM
            scratch.always[scratch.sizes[ALWAYS]] = gate
            scratch.sizes[ALWAYS] += 1
            scratch.stack[top] = gate
            top += 1
    while top:
        top -= 1
        row = scratch.stack[top]
        for second in range(2):
            if row < wiring.inputs:
                c = row % len(scratch.channels)
                if scratch.channels[c]:
                    continue
                scratch.channels[c] = True
                scratch.joined[scratch.sizes[JOINED]] = c
                scratch.sizes[JOINED] += 1
                reached = wiring.outputs[c]
            elif reads(scratch.op[row], second):
                reached = wiring.b[row] if second else wiring.a[row]
            else:
                continue
            if scratch.live[reached]:
                continue
            scratch.live[reached] = True
            scratch.added[scratch.sizes[ADDED]] = reached
            scratch.sizes[ADDED] += 1
            taken = take_slot(base, scratch, reached, taken)
            if taken == NO_ROOM:
                return NO_ROOM
            if scratch.source[reached] == reached:
                scratch.always[scratch.sizes[ALWAYS]] = reached
                scratch.sizes[ALWAYS] += 1
            scratch.stack[top] = reached
            top += 1
    return taken


@part
def restore(wiring, base, scratch, parameter):
    """Make the worker's circuit the base again."""
    for i in range(wiring.use_start[parameter], wiring.use_start[parameter + 1]):
        gate = wiring.uses[i]
        scratch.op[gate], scratch.slot[gate] = base.op[gate], base.slot[gate]
    for i in range(scratch.sizes[MOVED]):
        scratch.source[scratch.moved[i]] = base.source[scratch.moved[i]]
    for i in range(scratch.sizes[ADDED]):
        scratch.live[scratch.added[i]] = False
        scratch.slot[scratch.added[i]] = NOWHERE
    for i in range(scratch.sizes[JOINED]):
        scratch.channels[scratch.joined[i]] = False


@part
def adopt(wiring, base, scratch, parameter, taken):
    """Make the base the worker's circuit, which is altered in a parameter, with its slots."""
    first = wiring.use_start[parameter]
    last = wiring.use_start[parameter + 1]
    base.room[0] -= taken
    for i in range(scratch.sizes[ALWAYS]):
        base.slot[scratch.always[i]] = scratch.slot[scratch.always[i]]
    for i in range(first, last):
        gate = wiring.uses[i]
        base.op[gate] = scratch.op[gate]
        # A changed gate is its own source: change that if it is a pass-through.
        for second in range(2):
            if passes(scratch.op[gate], second):
                scratch.source[gate] = scratch.source[wiring.b[gate] if second else wiring.a[gate]]
                redirect_readers(wiring, scratch, gate, parameter)
                if base.slot[gate] != NOWHERE:
                    release(base, gate)
                scratch.slot[gate] = NOWHERE
    for i in range(first, last):
        base.source[wiring.uses[i]] = scratch.source[wiring.uses[i]]
    for i in range(scratch.sizes[MOVED]):
        base.source[scratch.moved[i]] = scratch.source[scratch.moved[i]]
    for i in range(scratch.sizes[ADDED]):
        base.live[scratch.added[i]] = True
    for i in range(scratch.sizes[JOINED]):
        base.channels[scratch.joined[i]] = True


X, Y, TARGET, FORM = range(4)
"""Columns of a gate's record: the slots of its inputs, its own slot, and its op. FORCED is added to
the op of a gate that is always evaluated, SPECIAL if the base has no slot for it. An input
row's record has its channel, its neighbour, its slot, and its marks."""


@part
def write_record(wiring, records, number, row, scratch, mark):
    """Write a row's record."""
    source = scratch.source
    slot = scratch.slot
    records[number, TARGET] = slot[row]
    if row < wiring.inputs:
        channels = len(wiring.outputs)
        records[number, X] = row % channels
        records[number, Y] = row // channels
        records[number, FORM] = mark
    else:
        records[number, X] = slot[source[wiring.a[row]]]
        records[number, Y] = slot[source[wiring.b[row]]]
        records[number, FORM] = scratch.op[row] + mark


@part
def write_records(wiring, base, scratch, parameter):
    """Write the records of all rows that the candidate evaluates, inputs first, in their order."""
    if scratch.ordered[0] == UNORDERED:
        scratch.ordered[0] = list_sources(base, scratch.order)
    known = scratch.ordered[0]
    more = 0
    for i in range(scratch.sizes[ALWAYS]):
        row = scratch.always[i]
        if not (base.live[row] and base.source[row] == row):
            place = more
            while place > 0 and scratch.special[place - 1] > row:
                scratch.special[place] = scratch.special[place - 1]
                place -= 1
            scratch.special[place] = row
            more += 1
    size = known + more
    taken = 0
    inputs = 0
    first = known + more
    last = 0
    for number in range(size):
        rest = number - taken
        mark = 0
        if taken < more and (rest == known or scratch.special[taken] < scratch.order[rest]):
            row = scratch.special[taken]
            mark = FORCED | SPECIAL
            taken += 1
        else:
            row = scratch.order[rest]
            if row >= wiring.inputs and wiring.param[row] == parameter:
                mark = FORCED
        write_record(wiring, scratch.records, number, row, scratch, mark)
        inputs += row < wiring.inputs
        if mark and row >= wiring.inputs:
            first, last = min(first, number), number + 1
    scratch.sizes[SIZE] = size
    scratch.sizes[INPUTS] = inputs
    scratch.sizes[FIRST] = first
    scratch.sizes[LAST] = last
    for c in range(len(scratch.channels)):
        if scratch.channels[c]:
            left = scratch.slot[scratch.source[wiring.outputs[c]]]
            scratch.leaving[scratch.sizes[LEAVING], 0] = c
            scratch.leaving[scratch.sizes[LEAVING], 1] = left
            scratch.sizes[LEAVING] += 1
