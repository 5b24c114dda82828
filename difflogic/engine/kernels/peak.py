"""The machine's limit: as many fused multiply-adds as it can do."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import fma_chains
from difflogic.jit import kernel


@kernel
def fma_peak(rounds, seed):
    """Run rounds · CHAINS · 16 fused multiply-adds; the result only keeps them from vanishing."""
    return fma_chains(rounds, seed)
