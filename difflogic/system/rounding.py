"""Where a seed means another circuit: whatever rounds in its own way.

Everything else computes the same bits: kernels fuse multiply-adds where their program says so, and
add in an order that follows from the problem alone.
"""

from __future__ import annotations

from difflogic.system.jit.processor import fuses

COMMON = "like any processor with fused multiply-adds"


def rounding(device: str) -> str:
    """Return how a device of [parallel] rounds, for messages and checkpoints."""
    if device == "gpu":
        return "like a GPU, which may fuse and order as it likes"
    return COMMON if fuses() else "like a processor without fused multiply-adds"


def warnings(device: str) -> list[str]:
    """Return a warning if the same seed ends in other bits elsewhere."""
    how = rounding(device)
    return [] if how == COMMON else [f"this run rounds {how}: its seed means another one elsewhere"]
