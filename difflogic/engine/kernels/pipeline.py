"""Which piece of work a worker takes next: whole groups of samples, then chunks that are ready.

A chunk of tiles takes its next automaton step as soon as the chunks that its cells see have taken
theirs: a pipeline. The way back works alike. Where workers share by "cells", a chunk waits for all
chunks of its group. Groups are independent, and all of them are in progress at once.

What a chunk may overwrite follows from what it may read. Forward, every state is kept. On the way
back a chunk writes its input gradients of step s over those of step s + RING. The chunks that see
it read these in step s + RING - 1. With RING = 2 they are done with step s + 1, because this chunk
could read their gradients of that step. So no more gradients need be kept, whatever the depth.
"""

from __future__ import annotations

from difflogic.engine.kernels import teams as t
from difflogic.engine.kernels.primitives import (
    atomic_add,
    atomic_claim,
    atomic_load,
    processor_clock,
    yield_thread,
)
from difflogic.engine.kernels.structures import BACKWARD
from difflogic.system.jit import borrowing_kernel, part

BEGUN = 0
DONE = 1
"""Places of a chunk in the control array: how many steps have been begun, and how many are done."""
APART = 8
"""Numbers between the places of two chunks: a cache line."""


def control_places(workers: int, pieces: int) -> int:
    """Return the length of the control array: tickets of each way, then all pieces of each way."""
    return t.TICKETS + APART * (-(-2 * workers // APART) + 2 * pieces)


@part
def is_ready(control, layout, group_place, chunk, steps):
    """Return whether all chunks that a chunk sees, itself included, have done as many steps."""
    for index in range(layout.seen_start[chunk], layout.seen_start[chunk + 1]):
        if atomic_load(control, group_place + APART * layout.seen[index] + DONE) < steps:
            return False
    return True


@borrowing_kernel
def take_ready(control, base, layout, first, end, steps):
    """Begin the next step of the least advanced ready chunk among `first` to before `end`.

    Chunks are counted through all groups. Returns the chunk, or -1 if none is ready yet, or -2 if
    all have begun their last of `steps`.
    """
    chunks = len(layout.chunk_start) - 1
    found = -1
    least = steps
    left = False
    for piece in range(first, end):
        begun = atomic_load(control, base + APART * piece + BEGUN)
        if begun < steps:
            left = True
        if begun < least:
            group_place = base + APART * (piece - piece % chunks)
            if is_ready(control, layout, group_place, piece % chunks, begun):
                found = piece
                least = begun
    if found >= 0 and atomic_claim(control, base + APART * found + BEGUN, least):
        return found
    return -1 if left else -2


@borrowing_kernel
def take_group(control, backward, groups, worker, workers):
    """Return a group of 0 to groups - 1 that nobody has taken on this way, or -1.

    Every worker first takes the groups of its own share, then those of the others' shares.
    """
    for turn in range(workers):
        owner = (worker + turn) % workers
        first = owner * groups // workers
        end = (owner + 1) * groups // workers
        place = t.TICKETS + backward * workers + owner
        if atomic_load(control, place) < end - first:
            group = first + atomic_add(control, place, 1)
            if group < end:
                return group
    return -1


@part
def next_alone(worker, problem, span, control, cursor):
    """Move a worker's cursor to its next step and chunk of a whole group; return if one remains.

    It takes the group's steps in order, and in each step all chunks.
    """
    backward = cursor[t.WAY] == BACKWARD
    team = problem.team
    chunks = len(problem.layout.chunk_start) - 1
    steps = span.end - span.first
    if cursor[t.PHASE] == t.BEGINNING:
        cursor[t.PHASE], cursor[t.GROUP] = t.ALONE, -1
    turn = span.end - 1 - cursor[t.STEP] if backward else cursor[t.STEP] - span.first
    cursor[t.CHUNK] += 1
    if cursor[t.GROUP] >= 0 and cursor[t.CHUNK] == chunks:
        cursor[t.CHUNK] = 0
        turn += 1
    if cursor[t.GROUP] < 0 or turn == steps:
        cursor[t.GROUP] = take_group(control, backward, team.groups_alone, worker, team.workers)
        cursor[t.CHUNK] = turn = 0
    cursor[t.STEP] = span.end - 1 - turn if backward else span.first + turn
    return cursor[t.GROUP] >= 0


@part
def next_piece(worker, task, cursor):
    """Move a worker's cursor to its next group, step and chunk; return whether there is one.

    Whole groups of samples come first, each for one worker alone. Then all workers share the
    remaining groups, chunk by chunk. Each worker prefers its own share, and takes from the others'
    shares when none of its own chunks is ready. A further call marks the previous piece as done.
    """
    backward = cursor[t.WAY] == BACKWARD
    team = task.problem.team
    layout = task.problem.layout
    span = task.span
    control = task.control
    groups = task.batch.states.shape[0]
    chunks = len(layout.chunk_start) - 1
    steps = span.end - span.first
    pieces = (groups - team.groups_alone) * chunks
    base = t.TICKETS + APART * (-(-2 * team.workers // APART))
    if backward:
        base += APART * pieces
    if cursor[t.PHASE] == t.SHARING:
        piece = (cursor[t.GROUP] - team.groups_alone) * chunks + cursor[t.CHUNK]
        atomic_add(control, base + APART * piece + DONE, 1)
    else:
        if next_alone(worker, task.problem, span, control, cursor):
            return True
        cursor[t.PHASE] = t.SHARING
    spins = 0
    used = 0.0
    while True:
        left = False
        for turn in range(team.workers):
            owner = (worker + turn) % team.workers
            first = owner * pieces // team.workers
            end = (owner + 1) * pieces // team.workers
            piece = take_ready(control, base, layout, first, end, steps)
            if piece >= 0:
                if spins:
                    t.count_wait(cursor, used)
                step = atomic_load(control, base + APART * piece + BEGUN) - 1
                cursor[t.GROUP] = team.groups_alone + piece // chunks
                cursor[t.CHUNK] = piece % chunks
                cursor[t.STEP] = span.end - 1 - step if backward else span.first + step
                return True
            left = left or piece == -1
        if not left:
            if spins:
                t.count_wait(cursor, used)
            return False
        if spins == 0:
            used = processor_clock()
        spins += 1
        if spins > t.SPINS:
            yield_thread()
