"""Whether the engine's kernels still have to be compiled."""

from __future__ import annotations

from difflogic.engine.kernels.hard import hard_rollout
from difflogic.engine.kernels.shares import train
from difflogic.jit import JIT, is_compiled


def is_cached(precision: str) -> bool:
    """Return whether the largest kernel for this precision lies compiled on disk."""
    return is_compiled(train, precision) if JIT else True


def is_hard_cached() -> bool:
    """Return the same for the largest kernel of hard circuits, which knows no other types."""
    return is_compiled(hard_rollout) if JIT else True
