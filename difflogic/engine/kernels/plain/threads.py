"""What workers meet with, where nothing is compiled."""

from __future__ import annotations

import threading
import time
from typing import Any

_ATOMIC = threading.Lock()


def atomic_add(array: Any, index: int, value: int) -> int:
    with _ATOMIC:
        before = int(array[index])
        array[index] += value
    return before


def atomic_claim(array: Any, index: int, value: int) -> bool:
    with _ATOMIC:
        held = int(array[index]) == value
        if held:
            array[index] += 1
    return held


def atomic_load(array: Any, index: int) -> int:
    return int(array[index])


def yield_thread() -> int:
    time.sleep(0)
    return 0


def now() -> float:
    return time.perf_counter()
