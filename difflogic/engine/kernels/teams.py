"""How workers share tasks, and wait for each other."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import atomic_add, atomic_load, yield_thread
from difflogic.jit import kernel

ARRIVED, GENERATION, STOLEN, ABORTED, TICKETS = 0, 8, 16, 24, 32
"""Places in the control array, a cache line apart. TICKETS has one place per stage and worker; the
whole groups are stage 0, and every step of the shared ones is another."""
SPINS = 4000
"""Polls of the barrier before a waiting worker offers its core: some ten microseconds."""


@kernel
def barrier(control, workers):
    """Wait until all workers have come here, or the call is given up."""
    if workers == 1:
        return
    generation = atomic_load(control, GENERATION)
    if atomic_add(control, ARRIVED, 1) == workers - 1:
        atomic_add(control, ARRIVED, -workers)
        atomic_add(control, GENERATION, 1)
        return
    spins = 0
    while atomic_load(control, GENERATION) == generation:
        spins += 1
        if spins > SPINS:
            if atomic_load(control, ABORTED) != 0:
                return
            yield_thread()


@kernel
def take(control, stage, tasks, worker, workers):
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
                if turn != 0:
                    atomic_add(control, STOLEN, 1)
                return task
    return -1
