"""How workers wait for each other, and what each records of its work."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import atomic_add, atomic_load, now, yield_thread
from difflogic.system.jit import borrowing_kernel, kernel, part

ARRIVED, GENERATION, ABORTED, TICKETS = 0, 8, 16, 24
"""Places in the control array, a cache line apart. pipeline.py describes those from TICKETS on."""
SPINS = 4000
"""Polls before a waiting worker yields its core: about ten microseconds."""

WAY, PHASE, GROUP, STEP, CHUNK, TASKS, STEALS, WAITS, WAITED, TRACED = range(10)
"""Places in a worker's cursor: its piece of work, and counts of its work so far.

WAY is FORWARD or BACKWARD, PHASE one of the four below. TASKS and the following ones are counted
over all calls: pieces taken, pieces taken from another's share, waits for others and their
nanoseconds, and recorded events."""
CURSOR_FIELDS = 10
BEGINNING, ALONE, SHARING, FINISHED = range(4)
BUSY, WAITING, BEGAN, ENDED = 0, 3, 6, 7
"""Places in a worker's clock: seconds that it was busy with forward, loss and backward, then
seconds that it waited in each, added up over calls; and when its last call began and ended."""
CLOCK_FIELDS = 8
"""A cache line."""
MEETING = 16
"""Places of a barrier in the control array."""


@borrowing_kernel
def barrier(control, place, workers, cursor):
    """Wait until `workers` threads have reached the barrier at a place of the control array.

    An aborted call ends the wait.
    """
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
    """Add a wait that began at `since` (seconds of the clock) to a worker's waits."""
    cursor[WAITS] += 1
    cursor[WAITED] += int((now() - since) * 1e9)


@part
def count_phase(clock, way, since, waited, cursor):
    """Add a phase that began at `since`, when the worker had already waited `waited` nanoseconds.

    `way` is FORWARD, LOSS or BACKWARD.
    """
    waits = (cursor[WAITED] - waited) / 1e9
    clock[BUSY + way // 2] += max(0.0, now() - since - waits)
    clock[WAITING + way // 2] += waits


KIND, OF_GROUP, OF_STEP, OF_CHUNK, OF_PHASE, STOLEN, SINCE, UNTIL, PERCEPTION, UPDATE = range(10)
"""Columns of a trace: FORWARD, LOSS, BACKWARD or CALL; the piece of work; how many pieces the
worker had taken from others by then; begin and end, in seconds of the clock; and the time of the
piece's gates, in perception and update. The rest of a piece's time moves rows between grid and
tiles."""
TRACE_FIELDS = 10
CALL = 8
"""A whole call of a worker: time in no other event is waiting."""


@part
def trace_begin(trace):
    """Return the time, or 0 without a trace."""
    return now() if len(trace) > 0 else 0.0


@part
def trace_part(workspace, column, since):
    """Add the time since `since` to a column of the current piece's event; return the time, or
    0.
    """
    trace = workspace.trace
    if len(trace) == 0:
        return 0.0
    event, until = workspace.cursor[TRACED], now()
    if event < len(trace):
        trace[event, column] += until - since
    return until


@part
def trace_end(trace, cursor, kind, since):
    """Record an event that began at `since` and ends now, if there is room."""
    if len(trace) > 0:
        event = cursor[TRACED]
        if event < len(trace):
            trace[event, KIND] = kind
            trace[event, OF_GROUP] = cursor[GROUP]
            trace[event, OF_STEP] = cursor[STEP]
            trace[event, OF_CHUNK] = cursor[CHUNK]
            trace[event, OF_PHASE] = cursor[PHASE]
            trace[event, STOLEN] = cursor[STEALS]
            trace[event, SINCE] = since
            trace[event, UNTIL] = now()
            cursor[TRACED] = event + 1


@kernel
def read_clock():
    """Return the time of the traces' clock, in seconds."""
    return now()
