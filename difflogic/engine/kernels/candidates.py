"""Circuits that differ from the base in one gate, judged by what the difference reaches."""

from __future__ import annotations

from difflogic.engine.kernels.candidate_records import (
    follow_order,
    restore_records,
    write_records,
)
from difflogic.engine.kernels.candidate_steps import (
    count,
    follow_step,
    go_on_whole,
    leave,
)
from difflogic.engine.kernels.changes import (
    ALWAYS,
    CHANGED,
    DIFFERING,
    JOINED,
    NO_ROOM,
    adopt,
    alter,
    count_gates,
    restore,
)
from difflogic.jit import borrowing_kernel, inlined

ALONE, KEEP, WALK = range(3)
"""What candidates are judged for: each by itself, to be kept, or one after the other."""

PLACE, TRIED, MOST_TRIED, IMPROVEMENTS, WRONG, DRAWN, KEPT, MOST_KEPT, MANY_GATES = range(9)
WALK_FIELDS = 9
"""Where a walk is: the next candidate, those tried so far and at most, improvements that it still
takes to end it, wrong bits of the base, draws used, changes kept and how many end the call, and
no fewer gates than matter in the base, or in what is left of it in a few changes."""

WHOLE = 4
"""A row takes so many times as long where differences are followed as where all are evaluated."""

MOST_GATES, SIDEWAYS = range(2)
"""The gates that a change which is kept may lead to, and the chance of one that is no better."""


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
    own.sizes[DIFFERING] = own.sizes[JOINED]


@inlined
def leave_behind(base, cells, history, own, step):
    """Write to the base's history what differs in a step; the base's own is not asked for again."""
    channels, words, even, pad = len(own.channels), own.values.shape[1], step % 2, cells.pad
    first, after = step * len(base.free), (step + 1) * channels
    for i in range(own.sizes[CHANGED]):
        slot = own.changed[i]
        for w in range(words):
            history.values[first + slot, w] = own.values[slot, w]
    for i in range(own.sizes[DIFFERING]):
        c = own.differing[i]
        for w in range(pad, pad + words):
            history.states[after + c, w] = own.states[(1 - even) * channels + c, w]


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
            if taken != NO_ROOM:
                write_records(wiring, base, own)
            for step in range(steps if taken != NO_ROOM else 0):
                follow_step(wiring, base, cells, forms, history, own, step)
                leave(base, cells, script, history, own, step, True, 0, own.values.shape[1])
                if keep:
                    leave_behind(base, cells, history, own, step)
                if counts < len(script.at) and script.at[counts] == step + 1:
                    total += count(
                        cells, script, history, own, step, counts, 0, own.values.shape[1]
                    )
                    counts += 1
                if keep or step + 1 == steps:
                    continue
                if total > most:
                    break
                if WHOLE * own.sizes[CHANGED] > own.ordered[0]:
                    total = go_on_whole(
                        base, cells, forms, script, steps, history, own, step + 1, counts, total,
                        most,
                    )  # fmt: skip
                    break
            if taken == NO_ROOM:
                total = NO_ROOM
            wrong[i], gates[i] = total, 0
            if keep and total != NO_ROOM:
                adopt(wiring, base, own, parameter, taken)
                follow_order(base, own)
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
            restore_records(wiring, base, own)
        if mode == WALK:
            if total == NO_ROOM:
                return
            walk[PLACE] = i + 1
            wrong[i] = keep
            if keep:
                walk[WRONG] = total
                walk[KEPT] += 1
            over = walk[WRONG] == 0 or walk[IMPROVEMENTS] == 0 or walk[TRIED] >= walk[MOST_TRIED]
            if over or walk[KEPT] >= walk[MOST_KEPT]:
                return
        # NO_ROOM is less than any number: nothing after it need be told either.
        elif total <= stop and i < hit[0]:
            hit[0] = i
