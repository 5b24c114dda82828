"""The processor's primitives, where nothing is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np


def flush_denormals() -> int:
    return 0


def restore_denormals(mode: int) -> None:
    pass


def fma_chains(count: int, seed: Any) -> Any:
    x = np.full(16, seed, np.float32)
    for _ in range(count):
        x = x * seed + seed
    return x[0]
