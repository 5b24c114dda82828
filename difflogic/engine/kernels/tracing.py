"""What a worker did when, written down if somebody wants to know."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import now
from difflogic.engine.kernels.teams import CHUNK, GROUP, PHASE, STEALS, STEP, TRACED
from difflogic.system.jit import kernel, part

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
