"""How workers share tasks, and wait for each other."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import atomic_add, atomic_load, now, yield_thread
from difflogic.engine.kernels.structures import BACKWARD
from difflogic.system.jit import borrowing_kernel, part

ARRIVED, GENERATION, ABORTED, TICKETS = 0, 8, 16, 24
"""Places in the control array, a cache line apart. TICKETS has one place per stage and worker; the
whole groups are stage 0, and every step of the shared ones is another."""
SPINS = 4000
"""Polls of the barrier before a waiting worker offers its core: some ten microseconds."""

WAY, PHASE, GROUP, STEP, CHUNK, STAGE, ROUND, TASKS, STEALS, WAITS, WAITED, TRACED = range(12)
"""Places in a worker's cursor: what piece of work it is at, and what it has done so far.

PHASE is one of the four below. TASKS and what follows are counted over all calls: pieces of work
taken, those taken from another's share, waits for others, and their nanoseconds; TRACED is how much
of it is written down (tracing.py)."""
CURSOR_FIELDS = 12
BEGINNING, ALONE, SHARING, FINISHED = range(4)
BUSY, WAITING, BEGAN, ENDED = 0, 3, 6, 7
"""Places in a worker's clock: seconds of forward, loss and backward that it was busy, and that it
waited for others, each added up over calls; and when its last call began and ended."""
CLOCK_FIELDS = 8
"""A cache line."""
MEETING = 16
"""Places that a barrier takes in the control array."""


@borrowing_kernel
def barrier(control, workers, cursor):
    """Wait until all workers have come here, or the call is given up."""
    meet(control, 0, workers, cursor)


@part
def meet(control, place, workers, cursor):
    """Wait until so many workers have come to the barrier at a place of the control array."""
    if workers == 1:
        return
    generation = atomic_load(control, place + GENERATION)
    if atomic_add(control, place + ARRIVED, 1) == workers - 1:
        atomic_add(control, place + ARRIVED, -workers)
        atomic_add(control, place + GENERATION, 1)
        return
    since = now()
    spins = 0
    while atomic_load(control, place + GENERATION) == generation:
        spins += 1
        if spins > SPINS:
            if atomic_load(control, ABORTED) != 0:
                return
            yield_thread()
    count_wait(cursor, since)


@part
def count_wait(cursor, since):
    """Add to a worker's waits one that began at `since`, in seconds of the clock."""
    cursor[WAITS] += 1
    cursor[WAITED] += int((now() - since) * 1e9)


@part
def count_phase(clock, way, since, waited, cursor):
    """Add a phase that began at `since`, when the worker had waited for `waited` nanoseconds.

    `way` is FORWARD, LOSS or BACKWARD.
    """
    waits = (cursor[WAITED] - waited) / 1e9
    clock[BUSY + way // 2] += max(0.0, now() - since - waits)
    clock[WAITING + way // 2] += waits


@part
def begin(cursor, way):
    """Move a worker's cursor before its first piece; WAY is FORWARD or BACKWARD."""
    cursor[:TASKS] = 0
    cursor[WAY] = way


@borrowing_kernel
def take(control, stage, tasks, worker, workers, cursor):
    """Return a task of 0 to tasks - 1 that nobody has taken in this stage, or -1.

    Every worker has a share of its own, neighbouring tasks that stay in its cache from stage to
    stage; when that is done it takes from the others'.
    """
    for turn in range(workers):
        owner = (worker + turn) % workers
        first, end = owner * tasks // workers, (owner + 1) * tasks // workers
        place = TICKETS + stage * workers + owner
        if atomic_load(control, place) < end - first:
            task = first + atomic_add(control, place, 1)
            if task < end:
                cursor[TASKS] += 1
                if turn != 0:
                    cursor[STEALS] += 1
                return task
    return -1


@part
def next_alone(worker, problem, span, control, cursor, stage):
    """Move a worker's cursor to its next step and chunk of a whole group; return whether there is.

    `stage` is where the whole groups' tickets are.
    """
    backward = cursor[WAY] == BACKWARD
    team = problem.team
    chunks, steps = len(problem.layout.chunk_start) - 1, span.end - span.first
    if cursor[PHASE] == BEGINNING:
        cursor[PHASE], cursor[GROUP], cursor[ROUND] = ALONE, -1, 0
    turn = span.end - 1 - cursor[STEP] if backward else cursor[STEP] - span.first
    cursor[CHUNK] += 1
    if cursor[GROUP] >= 0 and cursor[CHUNK] == chunks:
        cursor[CHUNK] = 0
        turn += 1
    if cursor[GROUP] < 0 or turn == steps:
        cursor[GROUP] = take(control, stage, team.whole, worker, team.workers, cursor)
        cursor[CHUNK] = turn = 0
    cursor[STEP] = span.end - 1 - turn if backward else span.first + turn
    return cursor[GROUP] >= 0


@part
def next_piece(worker, problem, groups, span, control, cursor):
    """Move a worker's cursor to its next group, step and chunk; return whether there is one.

    Whole groups of samples come first, each one worker's alone: for each step, each chunk. Then all
    workers share the cells of the groups that are left, `abreast` groups at a time, and wait for
    each other after each step. The stages of the way back follow those of the way forward.
    """
    backward = cursor[WAY] == BACKWARD
    team = problem.team
    chunks, steps = len(problem.layout.chunk_start) - 1, span.end - span.first
    rounds = -(-(groups - team.whole) // team.abreast)
    first_stage = 1 + rounds * steps if backward else 0
    if cursor[PHASE] != SHARING:
        if next_alone(worker, problem, span, control, cursor, first_stage):
            return True
        cursor[PHASE], cursor[STAGE] = SHARING, first_stage + 1
        turn = 0
    else:
        turn = span.end - 1 - cursor[STEP] if backward else cursor[STEP] - span.first
    while cursor[ROUND] < rounds:
        first = team.whole + cursor[ROUND] * team.abreast
        tasks = min(team.abreast, groups - first) * chunks
        task = take(control, cursor[STAGE], tasks, worker, team.workers, cursor)
        if task >= 0:
            cursor[GROUP], cursor[CHUNK] = first + task // chunks, task % chunks
            cursor[STEP] = span.end - 1 - turn if backward else span.first + turn
            return True
        barrier(control, team.workers, cursor)
        cursor[STAGE] += 1
        turn += 1
        if turn == steps:
            turn = 0
            cursor[ROUND] += 1
        cursor[STEP] = span.end - 1 - turn if backward else span.first + turn
    return False
