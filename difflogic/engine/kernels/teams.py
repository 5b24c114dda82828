"""How workers wait for each other, and what each notes of its work."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import atomic_add, atomic_load, now, yield_thread
from difflogic.system.jit import borrowing_kernel, kernel, part

ARRIVED, GENERATION, ABORTED, TICKETS = 0, 8, 16, 24
"""Places in the control array, a cache line apart. From TICKETS on see pipeline.py."""
SPINS = 4000
"""Polls before a waiting worker offers its core: some ten microseconds."""

WAY, PHASE, GROUP, STEP, CHUNK, TASKS, STEALS, WAITS, WAITED, TRACED = range(10)
"""Places in a worker's cursor: its piece of work, and what it has done so far.

WAY is FORWARD or BACKWARD, PHASE one of the four below. TASKS and what follows are counted over all
calls: pieces of work taken, those taken from another's share, waits for others, and their
nanoseconds; TRACED is how many events are recorded (tracing.py)."""
CURSOR_FIELDS = 10
BEGINNING, ALONE, SHARING, FINISHED = range(4)
BUSY, WAITING, BEGAN, ENDED = 0, 3, 6, 7
"""Places in a worker's clock: seconds of forward, loss and backward that it was busy, and that it
waited for others, each added up over calls; and when its last call began and ended."""
CLOCK_FIELDS = 8
"""A cache line."""
MEETING = 16
"""Places that a barrier takes in the control array."""


@borrowing_kernel
def meet(control, place, workers, cursor):
    """Wait until `workers` threads have come to the barrier at a place of the control array.

    A call that is given up ends the wait.
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


KIND, OF_GROUP, OF_STEP, OF_CHUNK, OF_PHASE, STOLEN, SINCE, UNTIL, PERCEPTION, UPDATE = range(10)
"""Columns of a trace: FORWARD, LOSS, BACKWARD or CALL; the piece of work; how many pieces the
worker had taken from others by then; the seconds of the clock; and how long the piece's gates took,
those of perception and of the update. What is left of a piece moves rows between grid and tiles."""
TRACE_FIELDS = 10
CALL = 8
"""A whole call of a worker: what is in no other event is waiting."""


@part
def trace_begin(trace):
    """Return the time, if it is written down."""
    return now() if len(trace) > 0 else 0.0


@part
def trace_part(workspace, column, since):
    """Add what passed since then to a column of the piece at work, if it is written down.

    Returns the time.
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
    """Write down what began at `since` and ends now, if there is place."""
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
    """Return the time by the clock of traces, in seconds."""
    return now()
