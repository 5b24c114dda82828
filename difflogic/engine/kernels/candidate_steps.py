"""A candidate's steps: evaluate only what differs from the base, or everything.

A step goes through the records of all gates once. It skips a gate if none of its inputs differs;
otherwise it evaluates the gate and compares it with the base. Where many gates differ, it is faster
to evaluate all of them without comparing. Inputs from channels that do not differ still come from
the base.
"""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels import candidate_changes as k
from difflogic.engine.kernels.llvm.words import (
    Advance,
    NeighborView,
    hard_advance,
    hard_copy,
    hard_count,
    hard_differ,
    hard_follow,
    hard_list,
    hard_view,
)
from difflogic.system.jit import part


@part
def view(rolled, scratch, channel, neighbor, places):
    """Write what cells see of a neighbour's channel in a step to a slot of the worker's values.

    `places` are the step, the place to write to, and whether the channel differs.
    """
    cells = rolled.cells
    history = rolled.history
    words = scratch.values.shape[1]
    stride = scratch.states.shape[1]
    step, to, differs = places
    state = (step % 2 if differs else step) * len(scratch.channels) + channel
    start = cells.start[neighbor]
    end = cells.start[neighbor + 1]
    hard_view(
        (scratch.values, scratch.states, history.states, cells.skip, cells.shift, cells.masks),
        NeighborView(to, differs, state * stride, start, end, 0, words, words),
    )


@part
def evaluate_input(rolled, scratch, step, row):
    """Evaluate an input row in a step; return whether it differs from the base's value."""
    words = scratch.values.shape[1]
    slots = len(rolled.base.free)
    channels = len(scratch.channels)
    c = row % channels
    to = scratch.slot[row] * words
    view(rolled, scratch, c, row // channels, (step, to, scratch.differs[step % 2, c]))
    known = step * slots * words + to
    return hard_differ((scratch.values, rolled.history.values), (to, known, words))


@part
def evaluate_changes(rolled, scratch, step):
    """Evaluate the rows of a step that differ, or may differ."""
    wiring = rolled.wiring
    base = rolled.base
    known = rolled.history.values
    channels = len(base.channels)
    slots = len(base.free)
    words = scratch.values.shape[1]
    scratch.flags[:] = 0
    changed = 0
    for i in range(scratch.sizes[k.DIFFERING] * 9 + scratch.sizes[k.ALWAYS]):
        if i < scratch.sizes[k.DIFFERING] * 9:
            row = i % 9 * channels + scratch.differing[i // 9]
        else:
            row = scratch.always[i - scratch.sizes[k.DIFFERING] * 9]
        if row < wiring.inputs and scratch.live[row]:
            differs = evaluate_input(rolled, scratch, step, row) != 0 or not base.live[row]
            if differs:
                scratch.flags[scratch.slot[row]] = 1
                scratch.changed[changed] = scratch.slot[row]
                changed += 1
    # Without a differing input, rows before the first changed gate equal the base's.
    size = scratch.sizes[k.SIZE]
    differs = changed != 0
    first = scratch.sizes[k.INPUTS] if differs else scratch.sizes[k.FIRST]
    end = size if differs else max(first, scratch.sizes[k.LAST])
    values = scratch.values
    records = scratch.records
    flags = scratch.flags
    arrays = values, known, records, rolled.cells.forms, flags, scratch.changed
    changed = hard_follow(arrays, (first, end, step * slots * words, words, changed))
    if changed != 0 and end < size:
        changed = hard_follow(arrays, (end, size, step * slots * words, words, changed))
    scratch.sizes[k.CHANGED] = changed


@part
def write_states(rolled, scratch, step, follows):
    """Write the channels' states after a step, and list the channels that differ.

    If the step `follows` differences, only write states that may differ.
    """
    base = rolled.base
    script = rolled.script
    history = rolled.history
    words = scratch.values.shape[1]
    stride = scratch.states.shape[1]
    channels = len(base.channels)
    even = step % 2
    slots = len(base.free)
    if follows and scratch.sizes[k.CHANGED] == scratch.sizes[k.DIFFERING] == 0:
        scratch.differs[1 - even] = False
        return
    fire = step % len(script.fires) * words
    keep = step % len(script.keeps) * words
    differing = 0
    place = rolled.cells.pad
    values = (scratch.values, history.values)
    states = (scratch.states, history.states)
    for i in range(scratch.sizes[k.LEAVING]):
        c = scratch.leaving[i, 0]
        slot = scratch.leaving[i, 1]
        differed = scratch.differs[even, c]
        flagged = not follows or scratch.flags[slot] != 0
        found = np.int64(0)
        if differed or flagged:
            row = slot * words if flagged else (step * slots + slot) * words
            before = ((even if differed else step) * channels + c) * stride + place
            after = ((1 - even) * channels + c) * stride + place
            known = ((step + 1) * channels + c) * stride + place
            found = hard_advance(
                (*values, *states, script.fires, script.keeps),
                Advance(row, flagged, before, differed, after, known, fire, keep, words),
            )
        differs = found != 0 or not base.channels[c]
        scratch.differs[1 - even, c] = differs
        if follows and differs:
            scratch.differing[differing] = c
            differing += 1
    if follows:
        scratch.sizes[k.DIFFERING] = differing


@part
def count(rolled, scratch, step, counts):
    """Return how many bits are wrong after a step."""
    script = rolled.script
    words = scratch.values.shape[1]
    stride = scratch.states.shape[1]
    total = 0
    even = step % 2
    channels = len(scratch.channels)
    first_target = counts % len(script.targets) * len(script.channels)
    counted = counts % len(script.counted) * words
    for i in range(len(script.channels)):
        c = script.channels[i]
        differs = scratch.differs[1 - even, c]
        row = (1 - even if differs else step + 1) * channels + c
        place = row * stride + rolled.cells.pad
        target = (first_target + i) * words
        total += hard_count(
            (scratch.states, rolled.history.states, script.targets, script.counted),
            (differs, place, target, counted, words),
        )
    return total


@part
def view_inputs(rolled, scratch, step):
    """Write all inputs' values; take those of equal channels from the base."""
    words = scratch.values.shape[1]
    slots = len(rolled.base.free)
    for number in range(scratch.sizes[k.INPUTS]):
        c = scratch.records[number, k.X]
        slot = scratch.records[number, k.TARGET]
        differs = scratch.differs[step % 2, c]
        if not differs and scratch.records[number, k.FORM] == 0:
            place = (step * slots + slot) * words
            hard_copy((scratch.values, rolled.history.values), (slot * words, place, words))
        else:
            places = step, slot * words, differs
            view(rolled, scratch, c, scratch.records[number, k.Y], places)


@part
def evaluate_rest(rolled, scratch, begun, counts, total, most):
    """Take a candidate's remaining steps, evaluating everything, until over `most` bits are wrong.

    Steps begin at `begun`. In the `counts` counts before there were `total` wrong bits. Returns the
    new total.
    """
    script = rolled.script
    scratch.differs[begun % 2] = False
    for i in range(scratch.sizes[k.DIFFERING]):
        scratch.differs[begun % 2, scratch.differing[i]] = True
    arrays = scratch.values, scratch.records, rolled.cells.forms
    for step in range(begun, script.steps):
        view_inputs(rolled, scratch, step)
        hard_list(arrays, (scratch.sizes[k.INPUTS], scratch.sizes[k.SIZE], scratch.values.shape[1]))
        write_states(rolled, scratch, step, False)
        if counts < len(script.at) and script.at[counts] == step + 1:
            total += count(rolled, scratch, step, counts)
            counts += 1
            if total > most:
                return total
    return total
