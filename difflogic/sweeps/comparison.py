"""Settings of a sweep compared on the same seeds, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from difflogic.sweeps.sweep_plan import SweepPlan
from difflogic.sweeps.sweep_results import CONFIDENCE, Row, wilson_interval

RESAMPLES = 2000
MEASURES: dict[str, Callable[[Row], int | None]] = {
    "epochs": lambda row: row.epochs_to_exact,
    "gates": lambda row: row.active_gates if row.status == "exact" else None,
}


class Interval(NamedTuple):
    """A number with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ComparedVariant:
    """A variant on the seeds that ended in it and in the first variant, failed runs included."""

    variant: str
    seeds: int
    proved: int
    share: Interval
    """The share of proved runs, with a Wilson interval."""
    medians: dict[str, Interval | None]
    """Medians of MEASURES over exact runs, with bootstrap intervals; None without runs."""
    changes: dict[str, Interval | None]
    """Medians of the differences from the first variant, seed by seed, where both are exact."""


def compare(plan: SweepPlan, rows: Sequence[Row]) -> list[ComparedVariant]:
    """Compare each variant with the first one, which comes first."""
    ended = [row for row in rows if row.status != "missing"]
    first = {row.seed: row for row in ended if row.variant == plan.variants[0].name}
    found = []
    for variant in plan.variants:
        own = [row for row in ended if row.variant == variant.name and row.seed in first]
        proved = sum(bool(row.proved) and row.status == "exact" for row in own)
        share = Interval(proved / max(len(own), 1), *wilson_interval(proved, len(own)))
        medians = {}
        changes = {}
        for name, measure in MEASURES.items():
            pairs = [(measure(row), measure(first[row.seed])) for row in own]
            here = [value for value, _ in pairs if value is not None]
            both = [x - y for x, y in pairs if x is not None and y is not None]
            medians[name] = median(here) if here else None
            changes[name] = median(both) if both and variant is not plan.variants[0] else None
        found.append(ComparedVariant(variant.name, len(own), proved, share, medians, changes))
    return found


def median(values: Sequence[float]) -> Interval:
    """Return the median of one run or more, with its bootstrap interval, by percentiles.

    The same values give the same interval. Source: Efron 1979.
    """
    drawn = np.random.default_rng(0).choice(values, (RESAMPLES, len(values)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.median(drawn, axis=1), [tail, 1 - tail])
    return Interval(float(np.median(values)), float(low), float(high))
