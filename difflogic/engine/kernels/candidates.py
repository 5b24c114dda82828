"""Circuits that differ from the base in one gate, judged by what the difference reaches."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.candidate_base import (
    ABSENT,
    advance,
    count_differing,
    passes,
)
from difflogic.engine.kernels.changes import (
    ALWAYS,
    DIFFERING,
    EVALUATED,
    JOINED,
    NO_ROOM,
    STAMPED,
    TOUCHED,
    adopt,
    alter,
    count_gates,
    restore,
)
from difflogic.engine.kernels.primitives import hard_differ, hard_gate, hard_view, lowest_one
from difflogic.engine.kernels.whole_steps import go_on_whole, list_rows
from difflogic.jit import borrowing_kernel, inlined, part

ALONE, KEEP, WALK = range(3)
"""What candidates are judged for: each by itself, to be kept, or one after the other."""

PLACE, TRIED, MOST_TRIED, IMPROVEMENTS, WRONG, DRAWN, KEPT, MOST_KEPT, MANY_GATES = range(9)
WALK_FIELDS = 9
"""Where a walk is: the next candidate, those tried so far and at most, improvements that it still
takes to end it, wrong bits of the base, draws used, changes kept and how many end the call, and
no fewer gates than matter in the base, or in what is left of it in a few changes."""

WHOLE = 8
"""Times that a row takes as long where differences are followed as where all are evaluated."""

MOST_GATES, SIDEWAYS = range(2)
"""The gates that a change which is kept may lead to, and the chance of one that is no better."""


@part
def touch(own, channel, now):
    """Let a channel's state be looked at after this step."""
    if own.channels[channel] and own.touched_in[channel] != now:
        own.touched_in[channel] = now
        own.touched[own.sizes[TOUCHED]] = channel
        own.sizes[TOUCHED] += 1


@part
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


@part
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
    own.sizes[STAMPED] = own.sizes[EVALUATED] = 0
    for group in range(len(own.filled)):
        while own.filled[group]:
            block = 64 * group + lowest_one(own.filled[group])
            while own.dirty[block]:
                row = 64 * block + lowest_one(own.dirty[block])
                own.dirty[block] &= own.dirty[block] - np.uint64(1)
                place, origin = own.slot[row] * words, base.source[row]
                known_place = (first + base.slot[origin]) * words
                own.sizes[EVALUATED] += 1
                if row >= wiring.inputs:
                    x, y = own.source[wiring.a[row]], own.source[wiring.b[row]]
                    # Each input as it differs in this step, or else as it is in the base.
                    x_own, y_own = own.stamp[x] == now, own.stamp[y] == now
                    x_place = own.slot[x] if x_own else first + own.slot[x]
                    y_place = own.slot[y] if y_own else first + own.slot[y]
                    differs = hard_gate(
                        (values, known, forms),
                        (
                            x_place * words, x_own, y_place * words, y_own, own.op[row], place,
                            known_place, words,
                        ),
                    )  # fmt: skip
                else:
                    c, neighbor = row % channels, row // channels
                    seen = own.differs[even, c]
                    state = even * channels + c if seen else step * channels + c
                    hard_view(
                        (values, own.states, history.states, cells.skip, cells.shift, cells.masks),
                        (
                            place, seen, state * own.states.shape[1], cells.start[neighbor],
                            cells.start[neighbor + 1], 0, words, words,
                        ),
                    )  # fmt: skip
                    differs = hard_differ((values, known), (place, known_place, words))
                if not base.live[row]:
                    own.stamp[row] = now  # what reads it is evaluated anyway
                elif differs != 0:
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
def is_kept(wiring, script, own, walk, chances, draws, total):
    """Decide on a candidate of a walk; a number is drawn for one that is no better and no larger.

    Its gates are counted, which takes longer than to judge most of them, only where there may be
    too many: those that the base does not have are evaluated in every step.
    """
    if total > walk[WRONG]:
        return False
    many = walk[MANY_GATES] + own.sizes[ALWAYS]
    if total == walk[WRONG]:
        most = chances[MOST_GATES]
        if many > most and count_gates(wiring, own, script.channels) > most:
            return False
        walk[DRAWN] += 1
        if draws[walk[DRAWN] - 1] >= chances[SIDEWAYS]:
            return False
    else:
        walk[IMPROVEMENTS] -= 1
    walk[MANY_GATES] = many
    return True


@borrowing_kernel
def judge_share(
    wiring, base, cells, forms, script, steps, history, own, parameters, ops, limit, mode, first,
    stride, stop, hit, wrong, gates, walk, chances, draws,
):  # fmt: skip
    """Judge every `stride`-th candidate from `first` on, (parameters, ops), into `wrong`.

    Where no more are wrong than `limit`, `gates` is how many the counted channels depend on.
    Workers pass over what comes after a candidate with no more than `stop`: `hit` (1,) is one
    of these, a late one perhaps, as two may write at once; nothing before the first is passed over.

    To KEEP, the base takes each over, and `own`, the worker's Scratch, with it: then nobody
    else may be at it. To WALK, it takes over those that `is_kept` says, and each is judged as a
    change of what it then is, until the walk is to be looked at (WALK_FIELDS): `wrong` tells which.
    """
    for i in range(first, len(parameters), stride):
        if i > hit[0]:
            return
        parameter, keep, total = parameters[i], mode == KEEP, 0
        most = walk[WRONG] if mode == WALK else limit
        # In a walk, what changes nothing is not tried.
        is_same = base.op[wiring.uses[wiring.use_start[parameter]]] == ops[i]
        judging = mode != WALK or not is_same
        while judging:
            total, counts = 0, 0
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
                if keep or step + 1 == steps:
                    continue
                if total > most:
                    break
                if WHOLE * own.sizes[EVALUATED] > list_rows(base, own):
                    total = go_on_whole(
                        wiring, base, cells, forms, script, steps, history, own, step + 1,
                        counts, total, most,
                    )  # fmt: skip
                    break
            if taken == NO_ROOM:
                total = NO_ROOM
            wrong[i], gates[i] = total, 0
            if keep and total != NO_ROOM:
                adopt(wiring, base, own, parameter, taken)
                judging = False
                continue
            if mode == WALK and total != NO_ROOM:
                walk[TRIED] += 1
                # Once more if it is kept, so that the base takes it over.
                keep = judging = is_kept(wiring, script, own, walk, chances, draws, total)
            else:
                judging = False
                if NO_ROOM < total <= limit:
                    gates[i] = count_gates(wiring, own, script.channels)
            restore(wiring, base, own, parameter)
        if mode == WALK:
            if total == NO_ROOM:
                return
            walk[PLACE] = i + 1
            wrong[i] = keep
            if keep:
                walk[WRONG] = total
                walk[KEPT] += 1
            over = walk[WRONG] == 0 or walk[IMPROVEMENTS] == 0 or walk[TRIED] >= walk[MOST_TRIED]
            if over or walk[KEPT] >= walk[MOST_KEPT] or base.linked[0] > len(base.op):
                return
        # NO_ROOM is less than any number: nothing after it need be told either.
        elif total <= stop and i < hit[0]:
            hit[0] = i
