"""Circuits that differ from the base in one gate, judged by what the difference reaches.

Workers take the candidates of a `Job` in turn, each with a base of its own. One of them leads: it
decides on one candidate after the other, by what is told of it, whoever has judged it. A change
that is kept makes another base, a new *version*, to which others catch up by themselves; what they
told of the one before counts no more. The leader waits for nobody: what it misses it judges itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_changes import (
    ALWAYS,
    CHANGED,
    DIFFERING,
    JOINED,
    NO_ROOM,
    adopt,
    alter,
    count_gates,
    follow_order,
    restore,
    restore_records,
    write_records,
)
from difflogic.engine.kernels.candidate_steps import count, follow_step, go_on_whole, leave
from difflogic.engine.kernels.primitives import atomic_add, atomic_load
from difflogic.system.jit import borrowing_kernel, by_reference, part

(
    PLACE,
    END,
    TRIED,
    MOST_TRIED,
    IMPROVEMENTS,
    WRONG,
    DRAWN,
    VERSION,
    MOST_KEPT,
    MANY_GATES,
    HIT,
    FITS,
) = range(12)
WALK_FIELDS = 12
"""Where a worker is: the next candidate and the one that it is not to come to, those tried so far
and at most, improvements that it still takes to end the walk, wrong bits of the base, draws used,
the version of its base and the last that it makes before it returns, no fewer gates than matter
in the base, the candidate that it leaves with as a hit, or NO_HIT, and whether the values fit."""

NO_HIT = -1

WHOLE = 4
"""A row takes so many times as long where differences are followed as where all are evaluated."""

AHEAD = 32
"""Candidates that a leader judges besides while another worker is at the one to be decided on."""

PATIENCE = 10000
"""Looks for something to do, some 50 µs of them, until a worker that only follows gives up. It
does not yield meanwhile: on a busy machine it would come back milliseconds later."""

MOST_GATES, SIDEWAYS = range(2)
"""The gates that a change which is kept, or a hit, may lead to, and the chance of keeping one that
is no better."""

NEWEST, OVER = 0, 8
"""Places in a job's control array, a cache line each: the newest version, and whether the job is
over. From TICKETS on follow the candidates that were taken of each version."""
TICKETS = 16

START, LIMIT = range(2)
"""Of each version: its first candidate, and the wrong bits above which nothing is told."""


@by_reference
class Job(NamedTuple):
    """Candidates that workers judge side by side, and what they tell each other of them."""

    parameters: np.ndarray  # int32 (candidates,)
    ops: np.ndarray  # uint8 (candidates,)
    control: np.ndarray  # int64 (TICKETS + candidates + 1,)
    versions: np.ndarray  # int64 (candidates + 1, 2)
    known: np.ndarray  # int64 (workers * candidates,): one more than the version it is told of
    told: np.ndarray  # int64 (workers * candidates, 2): wrong bits, and gates
    ends: np.ndarray  # int32 (candidates,): where the batch ends that a candidate is in
    hits: np.ndarray  # int64 (candidates + 1,): a hit of the batch that ends there, or its end
    workers: int
    stop: int  # wrong bits of a hit, at most: what follows in its batch is not asked for
    keeps: bool  # whether changes are kept


JUDGE, LEAVE = -1, -2
"""What a leader does that has nothing to keep: judge another candidate, or leave."""


@part
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


@part
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


@part
def same_op(wiring, base, job, place):
    """Whether a candidate changes nothing. In a walk such a one is not tried."""
    return base.op[wiring.uses[wiring.use_start[job.parameters[place]]]] == job.ops[place]


@part
def is_over(walk):
    """Whether a walk ends: at once, but one candidate is tried in any case."""
    return walk[WRONG] == 0 or walk[IMPROVEMENTS] == 0 or walk[TRIED] >= walk[MOST_TRIED]


@part
def decide(wiring, base, job, walk, chances, draws):
    """Decide on what is told, from the next candidate on, and as far as that goes.

    Returns the place of a change that is to be kept, or JUDGE, or LEAVE.
    """
    size = len(job.parameters)
    while True:
        place = walk[PLACE]
        if place >= walk[END]:
            return LEAVE
        if job.keeps and same_op(wiring, base, job, place):
            walk[PLACE] += 1
            if is_over(walk):
                return LEAVE
            continue
        found = -1
        for worker in range(job.workers):
            if atomic_load(job.known, worker * size + place) == walk[VERSION] + 1:
                found = worker * size + place
                break
        if found < 0:
            return JUDGE
        wrong, gates = job.told[found, 0], job.told[found, 1]
        if job.keeps:
            if wrong < walk[WRONG]:
                return place
            # A number is drawn for one that is no better and no larger.
            if wrong == walk[WRONG] and gates <= chances[MOST_GATES]:
                if draws[walk[DRAWN]] < chances[SIDEWAYS]:
                    return place
                walk[DRAWN] += 1
        walk[PLACE] += 1
        walk[TRIED] += 1
        if job.keeps and is_over(walk):
            return LEAVE
        if wrong <= job.stop:
            walk[PLACE] = job.ends[place]
            if gates <= chances[MOST_GATES]:
                walk[HIT] = place
                return LEAVE


@part
def publish(job, walk, place):
    """Tell all workers that a change is kept, unless they know."""
    size, version = len(job.parameters), walk[VERSION] + 1
    if atomic_load(job.control, NEWEST) == version:
        return
    for worker in range(job.workers):
        found = worker * size + place
        if atomic_load(job.known, found) == version:
            job.versions[version, LIMIT] = job.told[found, 0]
            break
    job.versions[version, START] = place + 1
    atomic_add(job.control, NEWEST, 1)


@part
def commit(job, walk):
    """Count a change as kept."""
    walk[VERSION] += 1
    version = walk[VERSION]
    walk[TRIED] += 1
    if job.versions[version, LIMIT] < walk[WRONG]:
        walk[IMPROVEMENTS] -= 1
    else:
        walk[DRAWN] += 1
    walk[WRONG] = job.versions[version, LIMIT]
    walk[PLACE] = job.versions[version, START]


@part
def take(job, walk, leads):
    """Return the candidate that a worker judges next, or JUDGE if there is none for it."""
    version, size = walk[VERSION], len(job.parameters)
    if job.workers == 1:
        return walk[PLACE]
    first = job.versions[version, START]
    last = min(size, walk[PLACE] + AHEAD) if leads else size
    while first + atomic_load(job.control, TICKETS + version) < last:
        place = first + atomic_add(job.control, TICKETS + version, 1)
        if place < size and place <= job.hits[job.ends[place]]:
            return place
    return walk[PLACE] if leads else JUDGE


@borrowing_kernel
def judge(
    wiring, base, cells, forms, script, steps, history, own, job, worker, walk, chances, draws
):
    """Judge candidates of a job, with a base that is the worker's own.

    The first worker leads: it goes on with a walk, or to the next hit that has not too many gates,
    and its base takes over what is kept. It returns where it is to be looked at (WALK_FIELDS).
    Others judge what will be asked for, until the job is over.
    """
    leads, size, idle = worker == 0, len(job.parameters), 0
    while True:
        version, place, keep, limit = walk[VERSION], JUDGE, False, 0
        if leads:
            place = decide(wiring, base, job, walk, chances, draws)
            if place == LEAVE:
                return
            keep = place != JUDGE
            if keep:
                # Before the leader's own base takes it over: so others do so meanwhile.
                publish(job, walk, place)
        elif atomic_load(job.control, NEWEST) > version:
            if version >= walk[MOST_KEPT]:
                return
            keep, place = True, job.versions[version + 1, START] - 1
        elif atomic_load(job.control, OVER) != 0:
            return
        if not keep:
            limit = job.versions[version, LIMIT]
            place = take(job, walk, leads)
            if place == JUDGE:
                idle += 1
                if idle > PATIENCE:
                    return
                continue
            if job.keeps and same_op(wiring, base, job, place):
                continue
            idle = 0
        parameter = job.parameters[place]
        total, counts, stale = 0, 0, False
        taken = alter(wiring, base, own, parameter, job.ops[place])
        begin(history, own)
        if taken != NO_ROOM:
            write_records(wiring, base, own)
        for step in range(steps if taken != NO_ROOM else 0):
            follow_step(wiring, base, cells, forms, history, own, step)
            leave(base, cells, script, history, own, step, True, 0, own.values.shape[1])
            if keep:
                leave_behind(base, cells, history, own, step)
                continue
            if counts < len(script.at) and script.at[counts] == step + 1:
                total += count(cells, script, history, own, step, counts, 0, own.values.shape[1])
                counts += 1
            if step + 1 == steps:
                continue
            if total > limit:
                break
            if WHOLE * own.sizes[CHANGED] > own.ordered[0]:
                total = go_on_whole(
                    base, cells, forms, script, steps, history, own, step + 1, counts, total, limit
                )
                break
            if not leads:
                stale = atomic_load(job.control, NEWEST) > version
                stale = stale or atomic_load(job.control, OVER) != 0
                if stale:
                    break
        if keep and taken != NO_ROOM:
            # Those that do not matter any more are still among the base's, and may matter again.
            walk[MANY_GATES] += own.sizes[ALWAYS]
            adopt(wiring, base, own, parameter, taken)
            follow_order(base, own)
            if leads:
                commit(job, walk)
                if is_over(walk) or walk[VERSION] >= walk[MOST_KEPT]:
                    return
            else:
                walk[VERSION] += 1
            continue
        gates = walk[MANY_GATES] + own.sizes[ALWAYS]
        # To count them takes longer than to judge most candidates.
        asked = not job.keeps or (total == limit and gates > chances[MOST_GATES])
        if asked and total <= limit and taken != NO_ROOM and not stale:
            gates = count_gates(wiring, own, script.channels)
        restore(wiring, base, own, parameter)
        restore_records(wiring, base, own)
        if taken == NO_ROOM:
            # What is not asked for yet may do without.
            if not leads or place == walk[PLACE]:
                walk[FITS] = 0
                return
        elif not stale:
            # Whoever reads the one reads the other after it.
            found = worker * size + place
            job.told[found, 0], job.told[found, 1] = total, gates
            atomic_add(job.known, found, version + 1 - job.known[found])
            # One of these, a late one perhaps, as two may write at once.
            if total <= job.stop and place < job.hits[job.ends[place]]:
                job.hits[job.ends[place]] = place
