"""Scaling laws fitted to measured speed-ups: Amdahl's, and the Universal Scalability Law.

Sources: Amdahl 1967, AFIPS 30; Gunther 2007, Guerrilla Capacity Planning, chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, inf, sqrt
from typing import Any

import numpy as np

from difflogic.system.json_values import fields_of


@dataclass(frozen=True)
class Amdahl:
    """Speed-up 1 / (s + (1 - s) / n)."""

    serial: float
    """Share of a step that more workers do not shorten, 0 to 1."""

    def speedup(self, workers: float) -> float:
        """Return the predicted speed-up."""
        return 1 / (self.serial + (1 - self.serial) / workers)

    @property
    def limit(self) -> float:
        """Upper bound of the speed-up."""
        return inf if self.serial == 0 else 1 / self.serial


@dataclass(frozen=True)
class Scalability:
    """The Universal Scalability Law: speed-up n / (1 + σ (n - 1) + κ n (n - 1))."""

    contention: float
    """σ: cost of what only one worker can use at a time."""
    coherency: float
    """κ: cost of what each pair of workers must agree on."""

    def speedup(self, workers: float) -> float:
        """Return the predicted speed-up."""
        lost = self.contention * (workers - 1) + self.coherency * workers * (workers - 1)
        return workers / (1 + lost)

    @property
    def best(self) -> float:
        """Number of workers with the largest speed-up; infinite if it only grows."""
        if self.coherency <= 1e-9:
            return inf
        return max(1.0, sqrt(max(0.0, 1 - self.contention) / self.coherency))


@dataclass(frozen=True)
class Fit:
    """Both laws, fitted to measured speed-ups."""

    amdahl: Amdahl | None
    """None with fewer than two worker counts."""
    scalability: Scalability | None
    """None with fewer than three worker counts, since its two parameters then fit anything."""
    workers: tuple[int, ...]
    """The worker counts that the laws were fitted to."""

    @property
    def best(self) -> int | None:
        """The best number of workers by the laws; None if more are always better."""
        law = self.scalability
        if law is None or law.best == inf:
            return None
        below = floor(law.best)
        return below if law.speedup(below) >= law.speedup(below + 1) else below + 1

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return fields_of(self, "best")


def fit(speedups: Mapping[int, float]) -> Fit:
    """Fit both laws to speed-ups by worker count.

    The shortfall n / S - 1 is linear in both laws' parameters, which are fitted by least squares
    (Gunther).
    """
    amdahl = law = None
    if len({*speedups, 1}) > 1:
        amdahl = Amdahl(*_least_squares(speedups, coherency=False))
    if len({*speedups, 1}) > 2:
        law = Scalability(*_least_squares(speedups, coherency=True))
    return Fit(amdahl, law, tuple(sorted(speedups)))


def _least_squares(speedups: Mapping[int, float], coherency: bool) -> list[float]:
    """Return σ, and κ if `coherency`, from 0 to 1, with n / S - 1 = σ (n - 1) + κ n (n - 1).

    If one would be negative, it is set to 0 and the other is fitted alone.
    """
    n, speedup = np.array(sorted(speedups.items()), float).T
    columns = np.stack([n - 1, n * (n - 1)][: 1 + coherency], axis=1)
    short = n / speedup - 1
    best = np.linalg.lstsq(columns, short, rcond=None)[0]
    if coherency and (best < 0).any():
        kept = best >= 0
        best = np.where(kept, (columns * kept).T @ short / (columns**2).sum(axis=0), 0.0)
    return [float(each) for each in np.clip(best, 0.0, 1.0)]
