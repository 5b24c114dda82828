"""Circuits that differ from the base in one gate, judged by evaluating only what differs.

Workers judge the candidates of a `CandidateJob` side by side, each with its own copy of the base.
One worker leads: it decides on one candidate after the other, using whatever any worker found. A
kept change makes a new *version* of the base. The others follow to it on their own; results of
older versions no longer count. The leader never waits: it judges what nobody else has judged.
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
from difflogic.engine.kernels.candidate_steps import (
    count,
    evaluate_changes,
    evaluate_rest,
    write_states,
)
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
    GATES_BOUND,
    HIT,
    FITS,
) = range(12)
WALK_FIELDS = 12
"""Places in a worker's walk: the next candidate, and where to end; candidates tried, and the limit;
improvements left until the walk ends; wrong bits of the base; draws used; the version of its base,
and the version to return at; an upper bound of the base's gates; the hit that it returns with, or
NO_HIT; and whether the values fit."""

NO_HIT = -1

WHOLE = 4
"""Evaluating a row costs about this many times more when following differences than when evaluating
everything."""

AHEAD = 32
"""Most candidates that a leader judges ahead while another worker judges the next one to decide
on."""

PATIENCE = 10000
"""Polls, about 50 µs of them, before a worker that does not lead gives up. It does not yield
meanwhile: on a busy machine it would come back milliseconds later."""

MOST_GATES, SIDEWAYS = range(2)
"""Most gates after a kept change or in a hit, and the probability of keeping a change that is no
better."""

NEWEST, OVER = 0, 8
"""Places in a job's control array, a cache line each: the newest version, and whether the job is
over. From TICKETS on are the numbers of candidates taken of each version."""
TICKETS = 16

START, LIMIT = range(2)
"""Columns of a version: its first candidate, and the most wrong bits worth reporting."""


@by_reference
class CandidateJob(NamedTuple):
    """Candidates that workers judge side by side, and the results that they share."""

    parameters: np.ndarray  # int32 (candidates,)
    ops: np.ndarray  # uint8 (candidates,)
    control: np.ndarray  # int64 (TICKETS + candidates + 1,)
    versions: np.ndarray  # int64 (candidates + 1, 2)
    result_versions: np.ndarray  # int64 (workers * candidates,): version of each result, plus 1
    results: np.ndarray  # int64 (workers * candidates, 2): wrong bits and gates
    ends: np.ndarray  # int32 (candidates,): the end of each candidate's batch
    hits: np.ndarray  # int64 (candidates + 1,): a hit of the batch that ends here, or its end
    workers: int
    stop: int  # most wrong bits of a hit; the rest of its batch is skipped
    keeps: bool  # whether changes are kept


@by_reference
class Decisions(NamedTuple):
    """By what a leader decides on the candidates of a job; other workers only use the walk."""

    walk: np.ndarray  # int64 (WALK_FIELDS,)
    chances: np.ndarray  # float64 (2,): MOST_GATES and SIDEWAYS
    draws: np.ndarray  # float64: random numbers, one for each change


JUDGE, LEAVE = -1, -2
"""What a leader does when there is no change to keep: judge another candidate, or return."""


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
    channels, words, pad = len(scratch.channels), scratch.values.shape[1], rolled.cells.pad
    history, even = rolled.history, step % 2
    first, after = step * len(rolled.base.free), (step + 1) * channels
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


@part
def decide(wiring, base, job, decisions):
    """Decide on candidates, from the next one on, as far as results are known.

    Returns the place of a change to keep, or JUDGE, or LEAVE.
    """
    size, walk, chances = len(job.parameters), decisions.walk, decisions.chances
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
            if atomic_load(job.result_versions, worker * size + place) == walk[VERSION] + 1:
                found = worker * size + place
                break
        if found < 0:
            return JUDGE
        wrong, gates = job.results[found, 0], job.results[found, 1]
        if job.keeps:
            if wrong < walk[WRONG]:
                return place
            # Draw a number for a change that is neither better nor larger.
            if wrong == walk[WRONG] and gates <= chances[MOST_GATES]:
                if decisions.draws[walk[DRAWN]] < chances[SIDEWAYS]:
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
    """Announce a kept change to all workers, unless they know."""
    size, version = len(job.parameters), walk[VERSION] + 1
    if atomic_load(job.control, NEWEST) == version:
        return
    for worker in range(job.workers):
        found = worker * size + place
        if atomic_load(job.result_versions, found) == version:
            job.versions[version, LIMIT] = job.results[found, 0]
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
def judge(rolled, scratch, job, worker, decisions):
    """Judge candidates of a job, with the worker's own base. `decisions` are Decisions.

    The first worker leads. It continues a walk, in which its base takes over kept changes, or
    searches for the next hit with few enough gates. It returns when a caller has to act on its walk
    (WALK_FIELDS). The others judge candidates ahead until the job is over.
    """
    wiring, base, script, history = rolled.wiring, rolled.base, rolled.script, rolled.history
    walk, chances, words = decisions.walk, decisions.chances, scratch.values.shape[1]
    leads, size, idle = worker == 0, len(job.parameters), 0
    while True:
        version, place, keep, limit = walk[VERSION], JUDGE, False, 0
        if leads:
            place = decide(wiring, base, job, decisions)
            if place == LEAVE:
                return
            keep = place != JUDGE
            if keep:
                # Publish first, so that the others take the change over at the same time.
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
        taken = alter(wiring, base, scratch, parameter, job.ops[place])
        begin(history, scratch)
        if taken != NO_ROOM:
            write_records(wiring, base, scratch)
        for step in range(rolled.steps if taken != NO_ROOM else 0):
            evaluate_changes(rolled, scratch, step)
            write_states(rolled, scratch, step, True, 0, words)
            if keep:
                write_history(rolled, scratch, step)
                continue
            if counts < len(script.at) and script.at[counts] == step + 1:
                total += count(rolled, scratch, step, counts, 0, words)
                counts += 1
            if step + 1 == rolled.steps:
                continue
            if total > limit:
                break
            if WHOLE * scratch.sizes[CHANGED] > scratch.ordered[0]:
                total = evaluate_rest(rolled, scratch, step + 1, counts, total, limit)
                break
            if not leads:
                stale = atomic_load(job.control, NEWEST) > version
                stale = stale or atomic_load(job.control, OVER) != 0
                if stale:
                    break
        if keep and taken != NO_ROOM:
            # Gates that no longer matter stay in the base, and may matter again.
            walk[GATES_BOUND] += scratch.sizes[ALWAYS]
            adopt(wiring, base, scratch, parameter, taken)
            follow_order(base, scratch)
            if leads:
                commit(job, walk)
                if is_over(walk) or walk[VERSION] >= walk[MOST_KEPT]:
                    return
            else:
                walk[VERSION] += 1
            continue
        gates = walk[GATES_BOUND] + scratch.sizes[ALWAYS]
        # Counting gates takes longer than judging most candidates.
        counts_gates = not job.keeps or (total == limit and gates > chances[MOST_GATES])
        if counts_gates and total <= limit and taken != NO_ROOM and not stale:
            gates = count_gates(wiring, scratch, script.channels)
        restore(wiring, base, scratch, parameter)
        restore_records(wiring, base, scratch)
        if taken == NO_ROOM:
            # A candidate judged ahead may be skipped.
            if not leads or place == walk[PLACE]:
                walk[FITS] = 0
                return
        elif not stale:
            # Write the result before its version: readers check the version first.
            found = worker * size + place
            job.results[found, 0], job.results[found, 1] = total, gates
            atomic_add(job.result_versions, found, version + 1 - job.result_versions[found])
            # Two workers may write at once: any hit will do.
            if total <= job.stop and place < job.hits[job.ends[place]]:
                job.hits[job.ends[place]] = place
