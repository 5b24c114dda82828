"""Repeated measurements: their spread, and the fastest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one thing."""

    values: tuple[float, ...]

    @property
    def minimum(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def maximum(self) -> float:
        return max(self.values)

    def as_dict(self) -> dict[str, float]:
        """Return minimum, median and maximum, in the unit of the values."""
        return {"min": self.minimum, "median": self.median, "max": self.maximum}


BURST = 0.004
"""Seconds per measurement: short, so that some are undisturbed on a busy machine."""


def fastest_rate(run: Callable[[int], object], bursts: int = 40) -> float:
    """Return the most rounds per second among several short measurements of run(rounds)."""
    rounds = 1000
    best = 0.0
    while True:
        start = time.perf_counter()
        run(rounds)
        elapsed = time.perf_counter() - start
        if elapsed >= BURST:
            break
        rounds *= max(2, round(BURST / max(elapsed, BURST / 1000)))
    for _ in range(bursts):
        start = time.perf_counter()
        run(rounds)
        best = max(best, rounds / (time.perf_counter() - start))
    return best
