"""Amdahl's law, fitted to measured speed-ups.

Source: Amdahl 1967, AFIPS 30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Amdahl:
    """Speed-up 1 / (s + (1 - s) / n)."""

    serial: float
    """Share of a step that more workers do not shorten, 0 to 1."""
    workers: tuple[int, ...] = ()
    """The worker counts that the law was fitted to."""

    def speedup(self, workers: float) -> float:
        """Return the predicted speed-up."""
        return 1 / (self.serial + (1 - self.serial) / workers)

    @property
    def limit(self) -> float:
        """Upper bound of the speed-up."""
        return inf if self.serial == 0 else 1 / self.serial


def fit(speedups: Mapping[int, float]) -> Amdahl | None:
    """Fit the law to speed-ups by worker count; None with fewer than two counts.

    The shortfall n / S - 1 = s (n - 1) is linear in s, which is fitted by least squares.
    """
    weight = sum((n - 1) ** 2 for n in speedups)
    if not weight:
        return None
    serial = sum((n - 1) * (n / speedup - 1) for n, speedup in speedups.items()) / weight
    return Amdahl(min(max(serial, 0.0), 1.0), tuple(sorted(speedups)))
