"""What benchmarks measure with: spreads of repeated measurements, and memory."""

from __future__ import annotations

import sys
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


def peak_memory() -> int | None:
    """Largest resident memory of this process so far, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024
