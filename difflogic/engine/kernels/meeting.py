"""What it takes workers to meet, for measuring it."""

from __future__ import annotations

from difflogic.engine.kernels import teams
from difflogic.engine.kernels.primitives import now
from difflogic.system.jit import kernel


@kernel
def meet(control, workers, cursor, times, rounds, best):
    """Wait for all workers so many times, in rounds; the seconds of the quickest go to `best`."""
    for _ in range(rounds):
        since = now()
        for _ in range(times):
            teams.meet(control, 0, workers, cursor)
        best[0] = min(best[0], now() - since)


@kernel
def do_nothing(worker):
    """Return at once."""
