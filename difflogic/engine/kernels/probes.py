"""Kernels that only benchmarks run: they measure the machine."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import fma_chains
from difflogic.engine.kernels.structures import chains_of
from difflogic.system.jit import kernel
from difflogic.system.jit.processor import registers


@kernel
def fma_peak(rounds, seed):
    """Run chains of fused multiply-adds; the result only keeps the compiler from removing them."""
    return fma_chains(rounds, seed)


def fma_per_round() -> int:
    """Return how many float32 multiply-adds a round of `fma_peak` does, over all lanes."""
    return chains_of(registers()) * registers().width // 4
