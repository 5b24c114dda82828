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
"""Share of one core's arithmetic peak that each worker reaches, unless workers share cores."""


def poor_gain(gain: float, workers: int, than: int = 1) -> str | None:
    """Say that the arithmetic peak grows too little with the workers; None if it grows well.

    `gain` is the peak of `workers` divided by the peak of `than` workers.
    """
    if gain >= LEAST_GAIN * workers / than:
        return None
    fewer = "one" if than == 1 else str(than)
    return (
        f"{workers} workers reach {gain:.1f} times the peak of {fewer}: they share cores, or other "
        "programs run"
    )


CHANCE = 0.05
"""Highest accepted probability of finding a difference between equal things."""


def differ(ours: Sequence[float], theirs: Sequence[float], chances: int = 1) -> bool:
    """Return whether paired measurements, taken in turn, differ by more than chance.

    This is the sign test on how often one is above the other. `chances` is the number of
    comparisons made (Bonferroni's correction).
    """
    signs = [x > y for x, y in zip(ours, theirs, strict=True) if x != y]
    count, fewer = len(signs), min(sum(signs), len(signs) - sum(signs))
    tail = sum(comb(count, k) for k in range(fewer + 1)) / 2**count
    return bool(2 * tail <= CHANCE / chances)


def peak_memory() -> int | None:
    """Return the largest resident memory of this process so far, in bytes; None on Windows."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


BURST = 0.004
"""Seconds per measurement: short, so that some are undisturbed on a busy machine."""


def fastest_rate(run: Callable[[int], object], bursts: int = 40) -> float:
    """Return the most rounds per second among several short measurements of run(rounds)."""
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
