"""Kernels that only benchmarks run: they measure the machine."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import IDLE, do_nothing, fma_chains, now
from difflogic.engine.kernels.structures import chains_of
from difflogic.system.jit import kernel
from difflogic.system.jit.processor import registers


@kernel
def fma_peak(rounds, seed):
    """Run chains of fused multiply-adds; the result only keeps the compiler from removing them."""
    return fma_chains(rounds, seed)


@kernel
def instructions_per_cycle(rounds, seed):
    """Return how many instructions that do nothing pass in a cycle, and a number to ignore.

    A core that is shared with another machine's thread passes half as many, at the same clock and
    the same peak of multiply-adds.
    """
    began = now()
    do_nothing(rounds)
    idle = now() - began
    x = seed
    began = now()
    for _ in range(rounds):  # each operation waits a cycle for the one before: Marsaglia 2003
        x ^= x << 13
        x ^= x >> 7
        x ^= x << 17
    return IDLE * (now() - began) / (_XORSHIFT_CYCLES * idle), x


_XORSHIFT_CYCLES = 6


def fma_per_round() -> int:
    """Return how many float32 multiply-adds a round of `fma_peak` does, over all lanes."""
    return chains_of(registers()) * registers().width // 4
