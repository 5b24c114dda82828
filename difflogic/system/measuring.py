"""Measurements for benchmarks: spreads of repeated measurements, and memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
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


LEAST_GAIN = 0.8
"""Share of the arithmetic peak per worker; below it, workers share cores."""

CHANCE = 0.05
"""Probability, at most, that two equal things are told apart."""


def differ(ours: Sequence[float], theirs: Sequence[float], chances: int = 1) -> bool:
    """Return whether measurements that were taken in turn differ by more than by chance.

    By the sign test: how often the one is above the other. `chances` is the number of pairs of
    things that are looked at (Bonferroni's correction).
    """
    signs = [x > y for x, y in zip(ours, theirs, strict=True) if x != y]
    count, fewer = len(signs), min(sum(signs), len(signs) - sum(signs))
    tail = sum(comb(count, k) for k in range(fewer + 1)) / 2**count
    return 2 * tail <= CHANCE / chances


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


BURST = 0.004
"""Seconds per measurement; short, so that a busy machine leaves some undisturbed."""


def fastest_rate(run: Callable[[int], object], bursts: int = 40) -> float:
    """Return rounds per second of the fastest of some short measurements of run(rounds)."""
    rounds, best = 1000, 0.0
    while True:
        start = time.perf_counter()
        run(rounds)
        elapsed = time.perf_counter() - start
        if elapsed >= BURST:
            break
        rounds *= 2 if elapsed <= 0 else max(2, round(BURST / elapsed))
    for _ in range(bursts):
        start = time.perf_counter()
        run(rounds)
        best = max(best, rounds / (time.perf_counter() - start))
    return best
