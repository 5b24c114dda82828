"""Kernels that only benchmarks run: they measure the machine."""

from __future__ import annotations

from difflogic.engine.kernels import teams
from difflogic.engine.kernels.primitives import fma_chains, now
from difflogic.engine.kernels.structures import chains_of
from difflogic.system.jit import kernel
from difflogic.system.jit.processor import registers


@kernel
def time_barriers(control, workers, cursor, times, rounds, best):
    """Wait for all workers `times` times in each round; write the fastest round's seconds to
    `best`.
    """
    for _ in range(rounds):
        since = now()
        for _ in range(times):
            teams.barrier(control, 0, workers, cursor)
        best[0] = min(best[0], now() - since)


@kernel
def do_nothing(worker):
    """Return at once."""


@kernel
def fma_peak(rounds, seed):
    """Run chains of fused multiply-adds; the result only keeps the compiler from removing them."""
    return fma_chains(rounds, seed)


def fma_per_round() -> int:
    """Return how many float32 multiply-adds a round of `fma_peak` does, over all lanes."""
    return chains_of(registers()) * registers().width // 4
