"""Circuits that differ from the base in one gate, judged by evaluating only what differs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_changes import (
    ALWAYS,
    CHANGED,
    DIFFERING,
    JOINED,
    NO_ROOM,
    UNORDERED,
    adopt,
    alter,
    restore,
    write_records,
)
from difflogic.engine.kernels.candidate_steps import (
    count,
    evaluate_changes,
    evaluate_rest,
    write_states,
)
from difflogic.engine.kernels.hard import spread
from difflogic.system.jit import borrowing_kernel, by_reference, part

(
    PLACE,
    END,
    TRIED,
    MOST_TRIED,
    IMPROVEMENTS,
    WRONG,
    DRAWN,
    KEPT,
    MOST_KEPT,
    GATES_BOUND,
    HIT,
    FITS,
) = range(12)
WALK_FIELDS = 12
"""Places in a walk: the next candidate, and where to end; candidates tried, and the limit;
improvements left until the walk ends; wrong bits of the base; draws used; candidates kept, and the
number to return at; an upper bound of the base's gates; the hit that it returns with, or NO_HIT;
and whether the values fit."""

NO_HIT = -1

WHOLE = 4
"""Evaluating a row costs about this many times more when following differences than when evaluating
everything."""

MOST_GATES, SIDEWAYS = range(2)
"""Most gates after a kept change or in a hit, and the probability of keeping a change that is no
better."""

WALKS, FINDS, TAKES = range(3)
"""What is done with candidates: keep those that do no harm, find a hit, or keep all."""


@by_reference
class CandidateJob(NamedTuple):
    """Candidates that are judged one after the other, and the results."""

    parameters: np.ndarray  # int32 (candidates,)
    ops: np.ndarray  # uint8 (candidates,)
    results: np.ndarray  # int64 (candidates, 2): wrong bits and gates
    kept: np.ndarray  # int64 (candidates,): places of the candidates kept, in turn
    stop: int  # most wrong bits of a hit
    aim: int  # WALKS, FINDS or TAKES


@by_reference
class Decisions(NamedTuple):
    """By what candidates are kept."""

    walk: np.ndarray  # int64 (WALK_FIELDS,)
    chances: np.ndarray  # float64 (2,): MOST_GATES and SIDEWAYS
    draws: np.ndarray  # float64: random numbers, one for each change


@part
def begin(history, scratch):
    """Start a candidate: channels that only it reads differ from the first step on."""
    scratch.differs[:] = False
    for i in range(scratch.sizes[JOINED]):
        c = scratch.joined[i]
        for w in range(scratch.states.shape[1]):
            scratch.states[c, w] = history.states[c, w]
        scratch.differs[0, c] = True
        scratch.differing[i] = c
    scratch.sizes[DIFFERING] = scratch.sizes[JOINED]


@part
def write_history(rolled, scratch, step):
    """Write a step's differences over the base's values, which are no longer needed."""
    channels = len(scratch.channels)
    words = scratch.values.shape[1]
    pad = rolled.cells.pad
    history = rolled.history
    even = step % 2
    first = step * len(rolled.base.free)
    after = (step + 1) * channels
    for i in range(scratch.sizes[CHANGED]):
        slot = scratch.changed[i]
        for w in range(words):
            history.values[first + slot, w] = scratch.values[slot, w]
    for i in range(scratch.sizes[DIFFERING]):
        c = scratch.differing[i]
        for w in range(pad, pad + words):
            history.states[after + c, w] = scratch.states[(1 - even) * channels + c, w]


@part
def same_op(wiring, base, job, place):
    """Return whether a candidate changes nothing. A walk does not try such a candidate."""
    return base.op[wiring.uses[wiring.use_start[job.parameters[place]]]] == job.ops[place]


@part
def is_over(walk):
    """Return whether a walk ends."""
    return walk[WRONG] == 0 or walk[IMPROVEMENTS] == 0 or walk[TRIED] >= walk[MOST_TRIED]


@borrowing_kernel
def accept(decisions, wrong, gates):
    """Count a candidate that leaves these wrong bits and gates; return whether a walk keeps it.

    A better one is kept. Of one that is as good, and not too large, a random number decides.
    """
    walk = decisions.walk
    chances = decisions.chances
    walk[TRIED] += 1
    if wrong == walk[WRONG] and gates <= chances[MOST_GATES]:
        walk[DRAWN] += 1
        return decisions.draws[walk[DRAWN] - 1] < chances[SIDEWAYS]
    better = wrong < walk[WRONG]
    walk[IMPROVEMENTS] -= better
    walk[WRONG] = min(wrong, walk[WRONG])
    return better


@borrowing_kernel
def judge(rolled, scratch, job, decisions):
    """Judge candidates of a job, from the next one on. `decisions` are Decisions.

    The base takes over those that are kept. Returns when a caller has to act on the walk
    (WALK_FIELDS).
    """
    wiring = rolled.wiring
    base = rolled.base
    script = rolled.script
    history = rolled.history
    walk = decisions.walk
    chances = decisions.chances
    walks = job.aim == WALKS
    keep = job.aim == TAKES
    while walk[PLACE] < walk[END] and walk[KEPT] < walk[MOST_KEPT]:
        place = walk[PLACE]
        limit = walk[WRONG]
        if walks and not keep and same_op(wiring, base, job, place):
            walk[PLACE] += 1
            if is_over(walk):
                return
            continue
        parameter = job.parameters[place]
        total = 0
        counts = 0
        taken = alter(wiring, base, scratch, parameter, job.ops[place])
        begin(history, scratch)
        if taken != NO_ROOM:
            write_records(wiring, base, scratch, parameter)
        for step in range(script.steps if taken != NO_ROOM else 0):
            evaluate_changes(rolled, scratch, step)
            write_states(rolled, scratch, step, True)
            if keep:
                write_history(rolled, scratch, step)
                continue
            if counts < len(script.at) and script.at[counts] == step + 1:
                total += count(rolled, scratch, step, counts)
                counts += 1
            if step + 1 == script.steps:
                continue
            if total > limit:
                break
            if WHOLE * scratch.sizes[CHANGED] > scratch.ordered[0]:
                total = evaluate_rest(rolled, scratch, step + 1, counts, total, limit)
                break
        if keep and taken != NO_ROOM:
            # Gates that no longer matter stay in the base, and may matter again.
            walk[GATES_BOUND] += scratch.sizes[ALWAYS]
            adopt(wiring, base, scratch, parameter, taken)
            scratch.ordered[0] = UNORDERED
            job.kept[walk[KEPT]] = place
            walk[KEPT] += 1
            walk[PLACE] += 1
            keep = not walks
            if walks and is_over(walk):
                return
            continue
        gates = walk[GATES_BOUND] + scratch.sizes[ALWAYS]
        # Counting gates takes longer than judging most candidates.
        counts_gates = not walks or (total == limit and gates > chances[MOST_GATES])
        if counts_gates and total <= limit and taken != NO_ROOM:
            counted = script.channels
            gates = spread(wiring, scratch.source, scratch.op, counted, counted[:0], scratch.marks)
        restore(wiring, base, scratch, parameter)
        if taken == NO_ROOM:
            walk[FITS] = 0
            return
        job.results[place, 0] = total
        job.results[place, 1] = gates
        if walks:
            keep = accept(decisions, total, gates)
        else:
            walk[TRIED] += 1
        if keep:
            continue
        walk[PLACE] += 1
        if walks and is_over(walk):
            return
        if total <= job.stop:
            walk[HIT] = place
            return
