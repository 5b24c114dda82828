"""Which of the engine's kernels runs, and whether it still has to be compiled.

Sharing a tile's gates needs a kernel of its own, which is compiled when it is first run.
"""

from __future__ import annotations

from typing import Any

from difflogic.engine.kernels.candidates import judge
from difflogic.engine.kernels.detectors import detect
from difflogic.engine.kernels.hard import hard_rollout
from difflogic.engine.kernels.training import train, train_by_gates
from difflogic.engine.sharing import Strategy
from difflogic.system.jit import JIT, is_compiled


def training_kernel(strategy: Strategy, workers: int) -> Any:
    """Return what a worker runs of a training step: it follows from these two alone."""
    return train_by_gates if strategy == "gates" and workers > 1 else train


def is_cached(precision: str, strategy: Strategy = "steps", workers: int = 1) -> bool:
    """Return whether the training kernel for this precision lies compiled on disk."""
    return is_compiled(training_kernel(strategy, workers), precision) if JIT else True


def is_hard_cached() -> bool:
    """Return the same for the largest kernel of hard circuits, which knows no other types."""
    return is_compiled(hard_rollout) if JIT else True


def is_search_cached() -> bool:
    """Return the same for the largest kernel of searches."""
    return is_compiled(judge) if JIT else True


def is_rectification_cached() -> bool:
    """Return the same for the largest kernel of what rectifies."""
    return is_compiled(detect) if JIT else True
