"""What laws say about measured speed-ups: Amdahl's, and the Universal Scalability Law.

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
    """Share of a step that no number of workers makes shorter, 0 to 1."""

    def speedup(self, workers: float) -> float:
        """Return the speed-up that the law expects."""
        return 1 / (self.serial + (1 - self.serial) / workers)

    @property
    def limit(self) -> float:
        """Speed-up that no number of workers exceeds."""
        return inf if self.serial == 0 else 1 / self.serial


@dataclass(frozen=True)
class Scalability:
    """The Universal Scalability Law: speed-up n / (1 + σ (n - 1) + κ n (n - 1))."""

    contention: float
    """σ: for what only one can have at a time."""
    coherency: float
    """κ: for what each pair of workers must agree on."""

    def speedup(self, workers: float) -> float:
        """Return the speed-up that the law expects."""
        lost = self.contention * (workers - 1) + self.coherency * workers * (workers - 1)
        return workers / (1 + lost)

    @property
    def best(self) -> float:
        """Number of workers at which the speed-up is largest; infinite if it only grows."""
        if self.coherency <= 1e-9:
            return inf
        return max(1.0, sqrt(max(0.0, 1 - self.contention) / self.coherency))


@dataclass(frozen=True)
class Fit:
    """Both laws, fitted to measured speed-ups."""

    amdahl: Amdahl | None
    """None without two worker counts."""
    scalability: Scalability | None
    """None with fewer than three worker counts, which any two numbers fit."""
    workers: tuple[int, ...]
    """The worker counts that Amdahl's law was fitted to."""

    @property
    def best(self) -> int | None:
        """The best number of workers that is implied; None if more are always better."""
        law = self.scalability
        if law is None or law.best == inf:
            return None
        below = floor(law.best)
        return below if law.speedup(below) >= law.speedup(below + 1) else below + 1

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        return fields_of(self, "best")


def fit(speedups: Mapping[int, float], more: Mapping[int, float] | None = None) -> Fit:
    """Fit both laws to speed-ups by worker count.

    The Universal Scalability Law is fitted to `more`, if given. What workers fall short of,
    n / S - 1, is linear in both laws' numbers, and is fitted by least squares (Gunther).
    """
    every = speedups if more is None else more
    amdahl = law = None
    if len({*speedups, 1}) > 1:
        amdahl = Amdahl(*_least_squares(speedups, coherency=False))
    if len({*every, 1}) > 2:
        law = Scalability(*_least_squares(every, coherency=True))
    return Fit(amdahl, law, tuple(sorted(speedups)))


def _least_squares(speedups: Mapping[int, float], coherency: bool) -> list[float]:
    """Return σ, and κ if that is asked for, from 0 to 1, with n / S - 1 = σ (n - 1) + κ n (n - 1).

    One that would be negative is 0, and the other is fitted alone.
    """
    n, found = np.array(sorted(speedups.items()), float).T
    columns = np.stack([n - 1, n * (n - 1)][: 1 + coherency], axis=1)
    short = n / found - 1
    best = np.linalg.lstsq(columns, short, rcond=None)[0]
    if coherency and (best < 0).any():
        alone = best >= 0
        best = np.where(alone, (columns * alone).T @ short / (columns**2).sum(axis=0), 0.0)
    return np.clip(best, 0.0, 1.0).tolist()
