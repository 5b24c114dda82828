"""Which piece of work a worker takes next: whole groups of samples, then chunks as they get ready.

A chunk of tiles takes its next automaton step as soon as the chunks that its cells see have taken
theirs, and on the way back in the same manner: a pipeline. Where workers share by "cells", it waits
for all chunks of its group. Groups do not depend on each other: all of them are in flight.

What it may overwrite follows from what it may read. Forward every state is kept. On the way back a
chunk leaves its input gradients of step s where those of step s + RING were; they were read in
step s + RING - 1 by the chunks that see it, and for RING = 2 these are done with that step, or it
could not read what they left in step s + 1. So no more of them need be kept, at any depth.
"""

from __future__ import annotations

from difflogic.engine.kernels.primitives import (
    atomic_add,
    atomic_claim,
    atomic_load,
    now,
    yield_thread,
)
from difflogic.engine.kernels.structures import BACKWARD
from difflogic.engine.kernels.teams import (
    ABORTED,
    ALONE,
    BEGINNING,
    CHUNK,
    GROUP,
    PHASE,
    SHARING,
    SPINS,
    STEALS,
    STEP,
    TASKS,
    TICKETS,
    WAY,
    count_wait,
)
from difflogic.system.jit import borrowing_kernel, part

BEGUN, DONE = 0, 1
"""Places of a chunk in the control array: how many steps have been begun, and how many are done."""
APART = 8
"""Numbers from one chunk's places to the next one's, a cache line."""


def control_places(workers: int, pieces: int) -> int:
    """Return the length of the control array: tickets of each way, then all pieces of each way."""
    return TICKETS + APART * (-(-2 * workers // APART) + 2 * pieces)


@part
def is_ready(control, layout, group_place, chunk, steps):
    """Return whether all chunks that a chunk sees, itself too, have done as many steps."""
    for index in range(layout.seen_start[chunk], layout.seen_start[chunk + 1]):
        if atomic_load(control, group_place + APART * layout.seen[index] + DONE) < steps:
            return False
    return True


@borrowing_kernel
def take_ready(control, base, layout, first, end, steps):
    """Begin the next step of one of the chunks `first` to before `end`, of those least advanced.

    They are counted through all groups. Returns it, or -1 if none is ready but some will be, or -2
    if all have begun their last of `steps`.
    """
    chunks = len(layout.chunk_start) - 1
    found, least, left = -1, steps, False
    for piece in range(first, end):
        begun = atomic_load(control, base + APART * piece + BEGUN)
        if begun < steps:
            left = True
        if begun < least:
            group_place = base + APART * (piece - piece % chunks)
            if is_ready(control, layout, group_place, piece % chunks, begun):
                found, least = piece, begun
    if found >= 0 and atomic_claim(control, base + APART * found + BEGUN, least):
        return found
    return -1 if left else -2


@borrowing_kernel
def take_group(control, backward, groups, worker, workers, cursor):
    """Return a group of 0 to groups - 1 that nobody has taken on this way, or -1.

    Every worker has a share of its own; when that is done it takes from the others'.
    """
    for turn in range(workers):
        owner = (worker + turn) % workers
        first, end = owner * groups // workers, (owner + 1) * groups // workers
        place = TICKETS + backward * workers + owner
        if atomic_load(control, place) < end - first:
            group = first + atomic_add(control, place, 1)
            if group < end:
                cursor[TASKS] += 1
                cursor[STEALS] += turn != 0
                return group
    return -1


@part
def next_alone(worker, problem, span, control, cursor):
    """Move a worker's cursor to its next step and chunk of a whole group; return whether there is.

    Of each group it takes step after step, and of each step all chunks.
    """
    backward = cursor[WAY] == BACKWARD
    team = problem.team
    chunks, steps = len(problem.layout.chunk_start) - 1, span.end - span.first
    if cursor[PHASE] == BEGINNING:
        cursor[PHASE], cursor[GROUP] = ALONE, -1
    turn = span.end - 1 - cursor[STEP] if backward else cursor[STEP] - span.first
    cursor[CHUNK] += 1
    if cursor[GROUP] >= 0 and cursor[CHUNK] == chunks:
        cursor[CHUNK] = 0
        turn += 1
    if cursor[GROUP] < 0 or turn == steps:
        cursor[GROUP] = take_group(control, backward, team.whole, worker, team.workers, cursor)
        cursor[CHUNK] = turn = 0
    cursor[STEP] = span.end - 1 - turn if backward else span.first + turn
    return cursor[GROUP] >= 0


@part
def next_piece(worker, problem, groups, span, control, cursor):
    """Move a worker's cursor to its next group, step and chunk; return whether there is one.

    Whole groups of samples come first, each one worker's alone. Then all workers share the groups
    that are left, chunk by chunk as they get ready: each has a share of its own, and takes from
    the others' what is ready where nothing of its own is. A further call says that the piece
    before is done. `seat` is not looked at: see split.py.
    """
    backward = cursor[WAY] == BACKWARD
    team, layout = problem.team, problem.layout
    chunks, steps = len(layout.chunk_start) - 1, span.end - span.first
    pieces = (groups - team.whole) * chunks
    base = TICKETS + APART * (-(-2 * team.workers // APART))
    if backward:
        base += APART * pieces
    if cursor[PHASE] == SHARING:
        piece = (cursor[GROUP] - team.whole) * chunks + cursor[CHUNK]
        atomic_add(control, base + APART * piece + DONE, 1)
    else:
        if next_alone(worker, problem, span, control, cursor):
            return True
        cursor[PHASE] = SHARING
    spins, since = 0, 0.0
    while True:
        left = False
        for turn in range(team.workers):
            owner = (worker + turn) % team.workers
            first, end = owner * pieces // team.workers, (owner + 1) * pieces // team.workers
            piece = take_ready(control, base, layout, first, end, steps)
            if piece >= 0:
                cursor[TASKS] += 1
                if turn != 0:
                    cursor[STEALS] += 1
                if spins:
                    count_wait(cursor, since)
                step = atomic_load(control, base + APART * piece + BEGUN) - 1
                cursor[GROUP], cursor[CHUNK] = team.whole + piece // chunks, piece % chunks
                cursor[STEP] = span.end - 1 - step if backward else span.first + step
                return True
            left = left or piece == -1
        if not left:
            if spins:
                count_wait(cursor, since)
            return False
        if spins == 0:
            since = now()
        spins += 1
        if spins > SPINS:
            if atomic_load(control, ABORTED) != 0:
                return False
            yield_thread()
