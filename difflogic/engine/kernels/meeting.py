"""What it takes workers to meet, for measuring it."""

from __future__ import annotations

from difflogic.engine.kernels.teams import barrier
from difflogic.jit import kernel


@kernel
def meet(control, workers, cursor, times):
    """Wait for all workers, so many times."""
    for _ in range(times):
        barrier(control, workers, cursor)


@kernel
def do_nothing(worker):
    """Return at once."""
