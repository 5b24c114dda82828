"""What laws say about measured speed-ups: Amdahl's, and the Universal Scalability Law.

Sources: Amdahl 1967, AFIPS 30; Gunther 2007, Guerrilla Capacity Planning, chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, inf, sqrt
from typing import Any

import numpy as np

from difflogic.system.errors import ConfigError

MISSING = "the fit of scaling laws needs SciPy: pip install '.[scaling]'"


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
        amdahl, law = self.amdahl, self.scalability
        return {
            "workers": self.workers,
            "amdahl_serial_share": None if amdahl is None else amdahl.serial,
            "amdahl_limit": None if amdahl is None else amdahl.limit,
            "usl_contention": None if law is None else law.contention,
            "usl_coherency": None if law is None else law.coherency,
            "best_workers": self.best,
        }


def fit(speedups: Mapping[int, float], more: Mapping[int, float] | None = None) -> Fit:
    """Fit both laws to speed-ups by worker count, by least squares.

    The Universal Scalability Law is fitted to `more`, if given. Raises ConfigError where SciPy is
    not installed.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        raise ConfigError(MISSING) from None

    def solve(law: Callable[..., Any], points: Mapping[int, float], start: list[float]) -> Any:
        counts = sorted(points)
        found = np.array([points[count] for count in counts])

        def errors(x: Any) -> Any:
            return np.array([law(*x).speedup(count) for count in counts]) - found

        scale = [0.1, 0.01][: len(start)]
        best = least_squares(errors, start, bounds=(0, 1), x_scale=scale, xtol=1e-12, ftol=1e-12)
        return law(*(float(value) for value in best.x))

    every = speedups if more is None else more
    amdahl = solve(Amdahl, speedups, [0.1]) if len(set(speedups) | {1}) > 1 else None
    law = solve(Scalability, every, [0.05, 0.001]) if len(set(every) | {1}) > 2 else None
    return Fit(amdahl, law, tuple(sorted(speedups)))
