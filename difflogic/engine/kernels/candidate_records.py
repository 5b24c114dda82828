"""What the steps of a candidate are made of: a record for each row that is evaluated.

Those of the base's rows are written once, in their order, for as long as the base stays as it is.
Of a candidate few are others: these are patched, and put back when it is judged. Rows that only
the candidate evaluates have theirs behind all others, and are told by where they are to be
evaluated.
"""

from __future__ import annotations

from difflogic.engine.kernels.candidate_base import list_sources, passes
from difflogic.engine.kernels.changes import (
    ALWAYS,
    FIRST,
    LAST,
    LEAVING,
    PATCHED,
    SPECIALS,
    UNORDERED,
    UNSEEN,
)
from difflogic.engine.kernels.hard_structures import FORCED, SPECIAL
from difflogic.system.jit import part

X, Y, TARGET, FORM = range(4)
"""Columns of a record: the slots of a gate's inputs, and its own; its op, and whether it is FORCED
to be evaluated, as it is another gate than in the base, or SPECIAL, as its slot is not the base's.
Of an input row: its channel, its neighbour, its slot, and whether that is SPECIAL."""


@part
def write_record(wiring, records, number, row, source, slot, op, mark):
    """Write the record of a row in a circuit."""
    records[number, TARGET] = slot[row]
    if row < wiring.inputs:
        channels = len(wiring.outputs)
        records[number, X], records[number, Y] = row % channels, row // channels
        records[number, FORM] = mark
    else:
        records[number, X] = slot[source[wiring.a[row]]]
        records[number, Y] = slot[source[wiring.b[row]]]
        records[number, FORM] = op[row] + mark


@part
def write_base(wiring, base, own):
    """Write the records of all rows whose values the base keeps."""
    if own.ordered[0] == UNORDERED:
        own.ordered[0] = list_sources(base, own.order)
    size, inputs = own.ordered[0], 0
    for number in range(size):
        row = own.order[number]
        own.number[row] = number
        inputs += row < wiring.inputs
        write_record(wiring, own.records, number, row, base.source, base.slot, base.op, 0)
    own.ordered[1] = inputs


@part
def follow_order(base, own):
    """Bring the order up to date, as the base took over what the worker's records are of."""
    size, more = own.ordered[0], own.sizes[SPECIALS]
    for place in range(size + more - 1, -1, -1):
        if more and (size == 0 or own.special[more - 1] > own.order[size - 1]):
            more -= 1
            own.order[place] = own.special[more]
        else:
            size -= 1
            own.order[place] = own.order[size]
    # Gates that pass an input on by now are among them.
    for place in range(own.ordered[0] + own.sizes[SPECIALS]):
        row = own.order[place]
        if base.live[row] and base.source[row] == row:
            own.order[size] = row
            size += 1
    own.ordered[0], own.ordered[1] = size, UNORDERED


@part
def find_place(own, row):
    """Return how many rows in the order come before a row that is not in it."""
    low, high = 0, own.ordered[0]
    while low < high:
        middle = (low + high) >> 1
        if own.order[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@part
def patch(own, row):
    """Remember that a row's record is to be put back."""
    own.patched[own.sizes[PATCHED]] = row
    own.sizes[PATCHED] += 1


@part
def patch_readers(wiring, base, own, gate):
    """Let what reads a gate through pass-throughs, as it is no pass-through any more, read it."""
    top = 1
    own.stack[0] = gate
    while top:
        top -= 1
        passed = own.stack[top]
        for i in range(wiring.wire_start[passed], wiring.wire_start[passed + 1]):
            reader, second = wiring.wires[i] >> 1, wiring.wires[i] & 1
            if own.source[reader] != reader:
                if passes(own.op[reader], second):
                    own.stack[top] = reader
                    top += 1
            elif base.live[reader] and base.source[reader] == reader:
                own.records[own.number[reader], Y if second else X] = own.slot[gate]
                patch(own, reader)


@part
def write_records(wiring, base, own):
    """Make the records the candidate's."""
    if own.ordered[1] == UNORDERED:
        write_base(wiring, base, own)
    size = own.ordered[0]
    own.sizes[FIRST], own.sizes[LAST] = size, 0
    for i in range(own.sizes[ALWAYS]):
        row = own.always[i]
        if base.live[row] and base.source[row] == row:
            number = own.number[row]
            write_record(wiring, own.records, number, row, own.source, own.slot, own.op, FORCED)
            patch(own, row)
            own.sizes[FIRST] = min(own.sizes[FIRST], number)
            own.sizes[LAST] = max(own.sizes[LAST], number + 1)
            continue
        place = own.sizes[SPECIALS]
        while place > 0 and own.special[place - 1] > row:
            own.special[place] = own.special[place - 1]
            place -= 1
        own.special[place] = row
        own.sizes[SPECIALS] += 1
    for k in range(own.sizes[SPECIALS]):
        row = own.special[k]
        write_record(
            wiring, own.records, size + k, row, own.source, own.slot, own.op, FORCED | SPECIAL
        )
        if row < wiring.inputs:
            own.sizes[UNSEEN] += 1
            continue
        own.cut[k] = find_place(own, row)
        own.sizes[FIRST] = min(own.sizes[FIRST], own.cut[k])
        own.sizes[LAST] = max(own.sizes[LAST], own.cut[k])
        if base.live[row]:
            patch_readers(wiring, base, own, row)
    for c in range(len(own.channels)):
        if own.channels[c]:
            own.leaving[own.sizes[LEAVING], 0] = c
            own.leaving[own.sizes[LEAVING], 1] = own.slot[own.source[wiring.outputs[c]]]
            own.sizes[LEAVING] += 1


@part
def restore_records(wiring, base, own):
    """Make the records the base's again."""
    for i in range(own.sizes[PATCHED]):
        row = own.patched[i]
        number = own.number[row]
        write_record(wiring, own.records, number, row, base.source, base.slot, base.op, 0)
