"""How workers wait for each other, and what each records of its work."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import (
    atomic_add,
    atomic_load,
    now,
    processor_clock,
    yield_thread,
)
from difflogic.system.jit import borrowing_kernel, part

ARRIVED = 0
GENERATION = 8
ABORTED = 16
TICKETS = 24
"""Places in the control array, a cache line apart. pipeline.py describes those from TICKETS on."""
SPINS = 4000
"""Polls before a waiting worker yields its core: about ten microseconds."""

WAY, PHASE, GROUP, STEP, CHUNK, SPUN = range(6)
"""Places in a worker's cursor: its piece of work, and how long it spun.

WAY is FORWARD or BACKWARD, PHASE one of the three below. SPUN, the nanoseconds of waits in which
the worker kept a core, starts from 0 in each phase. Each worker's cursor has its own cache line."""
CURSOR_FIELDS = 6
BEGINNING, ALONE, SHARING = range(3)
BUSY = 0
WAITING = 3
BEGAN = 6
ENDED = 7
"""Places in a worker's clock: seconds that it was busy with forward, loss and backward, then
seconds that it waited in each, for others or for a core, added up over calls; and when its last
call began and ended."""
CLOCK_FIELDS = 8
"""A cache line."""


@borrowing_kernel
def barrier(control, workers, cursor):
    """Wait until `workers` threads have reached the barrier. An aborted call ends the wait."""
    if workers == 1:
        return
    generation = atomic_load(control, GENERATION)
    if atomic_add(control, ARRIVED, 1) == workers - 1:
        atomic_add(control, ARRIVED, -workers)
        atomic_add(control, GENERATION, 1)
        return
    used = processor_clock()
    spins = 0
    while atomic_load(control, GENERATION) == generation:
        spins += 1
        if spins > SPINS:
            if atomic_load(control, ABORTED) != 0:
                return
            yield_thread()
    count_wait(cursor, used)


@part
def count_wait(cursor, used):
    """Add a wait that began at `used` of the worker's processor clock."""
    cursor[SPUN] += int((processor_clock() - used) * 1e9)


@part
def count_phase(clock, way, since, used, cursor):
    """Add a phase that began at `since`, and at `used` of the worker's processor clock.

    `way` is FORWARD, LOSS or BACKWARD. The worker was busy while it ran on a processor, but for its
    waits; else it waited for others or for a core. Returns both clocks at the phase's end.
    """
    ended = now()
    ran = processor_clock()
    busy = min(max(0.0, ran - used - cursor[SPUN] / 1e9), ended - since)
    clock[BUSY + way // 2] += busy
    clock[WAITING + way // 2] += ended - since - busy
    cursor[SPUN] = 0
    return ended, ran
