"""Whether the engine's kernels are compiled on disk already.

Checking the largest kernel of a task is enough. The strategy "gates" has a training kernel of its
own, which is compiled when it is first run.
"""

from __future__ import annotations

from typing import Any

from difflogic.engine.kernels.training import train, train_by_gates
from difflogic.system.jit import is_compiled
from difflogic.system.strategy import Strategy


def training_kernel(strategy: Strategy, workers: int) -> Any:
    """Return the kernel that each worker runs in a training step."""
    return train_by_gates if strategy == "gates" and workers > 1 else train


def is_cached(precision: str, strategy: Strategy = "steps", workers: int = 1) -> bool:
    """Return whether the training kernel for this precision is compiled on disk."""
    return is_compiled(training_kernel(strategy, workers), precision)
