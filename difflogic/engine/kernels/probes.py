"""Kernels that only benchmarks run: they measure the machine."""

from __future__ import annotations

from difflogic.engine.kernels import teams
from difflogic.engine.kernels.primitives import fma_chains, now
from difflogic.engine.kernels.structures import chains_of
from difflogic.system.jit import kernel
from difflogic.system.jit.processor import registers


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


@kernel
def fma_peak(rounds, seed):
    """Run chains of fused multiply-adds; the result only keeps them from vanishing."""
    return fma_chains(rounds, seed)


def fma_per_round() -> int:
    """Return how many fused multiply-adds of float32 a round of `fma_peak` has, all lanes."""
    return chains_of(registers()) * registers().width // 4
