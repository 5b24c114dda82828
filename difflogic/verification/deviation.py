"""Results of comparisons: a difference, its bound, and the reason for the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from difflogic.system.array_types import Array
from difflogic.system.json_values import fields_of


class Tolerance(float):
    """A bound on a difference, and the reason why it is not smaller."""

    reason: str

    def __new__(cls, bound: float, reason: str) -> Tolerance:
        tolerance = super().__new__(cls, bound)
        tolerance.reason = reason
        return tolerance


EXACT = Tolerance(0.0, "the same bits")
KERNEL_TOLERANCE = Tolerance(1e-9, "float64 kernels and oracle: both round, in different orders")
DIFFERENCE_TOLERANCE = Tolerance(
    1e-6, "central differences: their own error is of the order of the step's square"
)
# Measured: at most 3e-7.
SINGLE_TOLERANCE = Tolerance(
    1e-5, "float32 rounds each operation by 2^-24 = 6e-8, and hundreds follow each other"
)
TRAINED_TOLERANCE = Tolerance(
    1e-6, "AdamW divides by a small second moment, which magnifies rounding of the gradients"
)


@dataclass(frozen=True)
class Deviation:
    """One comparison: what is compared, with what, on which problem, and the largest difference."""

    what: str
    against: str
    where: str
    difference: float
    tolerance: Tolerance

    @property
    def passed(self) -> bool:
        """Whether the difference is within the tolerance; NaN is not."""
        return bool(self.difference <= self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON. The difference may be infinite."""
        return fields_of(self, "passed") | {"reason": self.tolerance.reason}


def distance(x: Array, y: Array) -> float:
    """Return the largest absolute difference; infinite for NaN and for different shapes."""
    if x.shape != y.shape:
        return float("inf")
    largest = float(np.abs(x.astype(np.float64) - y.astype(np.float64)).max())
    return largest if np.isfinite(largest) else float("inf")


def relative(x: Array, y: Array) -> float:
    """Return the largest difference divided by the largest magnitude of `y`."""
    largest = distance(x, y)
    if largest == float("inf"):  # `y` may contain NaN
        return largest
    return largest / max(float(np.abs(y).max()), np.finfo(np.float64).tiny)
