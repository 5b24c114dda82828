"""Training steps of several settings, measured in turn in one process, and compared.

The speed of a shared machine drifts. Settings are therefore measured side by side, and speed-ups
are medians of pairs. Rows that must compute the same are compared bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.engine.kernels.probes import fma_peak, fma_per_round, instructions_per_cycle
from difflogic.engine.workers import Workers
from difflogic.experiment.searching import Trainer
from difflogic.run.measures import PHASES
from difflogic.speed.spread import Spread, fastest_rate
from difflogic.system.json_values import chosen
from difflogic.system.machine import cpu_count
from difflogic.system.work import tell
from difflogic.training.plan import ParallelPlan

WARM_UP_STEPS = 3

REPEAT = 30

IDLE_ROUNDS = 5000
"""Rounds of `instructions_per_cycle` beside a step: some ten microseconds."""
FEW_INSTRUCTIONS = 3.5
SHARED = 0.75
"""A core passes four instructions or more in a cycle. One that is shared passes fewer, or fewer
than this share of the most in the same run: docs/notebook/kernels.md."""


@dataclass
class Measurement:
    """Measurements of a setting. Times in seconds, sizes in bytes."""

    label: str
    config: Config
    plan: ParallelPlan
    steps: list[float] = field(default_factory=list)
    phases: dict[str, list[float]] = field(default_factory=dict)
    """Times of each step, by phase."""
    losses: list[float] = field(default_factory=list)
    peak: float | None = None
    """Fused multiply-adds per second on as many threads, measured in the same run."""
    passed: list[float] = field(default_factory=list)
    """Instructions that a core passed in a cycle, beside each step."""
    difference: float | None = None
    """Largest difference from the first row; None if nothing was compared."""

    @property
    def workers(self) -> int:
        return self.plan.workers

    @property
    def batch(self) -> int:
        """Samples per step."""
        return self.config.training.batch

    @property
    def oversubscribed(self) -> bool:
        """Whether there are more workers than cores."""
        return self.workers > cpu_count()

    @property
    def total(self) -> Spread:
        """Times of whole steps."""
        return Spread(tuple(self.steps))

    def phase(self, name: str) -> Spread:
        """Return the times of a phase."""
        return Spread(tuple(self.phases[name]))

    @property
    def equal(self) -> bool:
        """Whether there is no difference, as far as was compared; NaN is one."""
        return not self.difference

    @property
    def waiting(self) -> float:
        """Share of the workers' time in which they waited for each other or a core, 0 to 1."""
        return sum(self.phases["waiting"]) / sum(self.steps)

    @property
    def shared(self) -> float:
        """Share of the steps beside which the core was shared with another thread, 0 to 1."""
        few = max(FEW_INSTRUCTIONS, SHARED * max(self.passed, default=0.0))
        return float(np.mean([found < few for found in self.passed or [few]]))

    def speedup(self, first: Measurement) -> float | None:
        """Return the speed-up: the median of pairs."""
        return ratio(first.steps, self.steps)

    def efficiency(self, first: Measurement) -> float | None:
        """Return the speed-up divided by the factor of workers."""
        speedup = self.speedup(first)
        return None if speedup is None else speedup * first.workers / self.workers

    def as_dict(self, first: Measurement) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            **chosen(self, "label", "batch"),
            "step_seconds": self.total.as_dict(),
            "phase_seconds": {name: self.phase(name).as_dict() for name in self.phases},
            "speedup": self.speedup(first),
            "efficiency": self.efficiency(first),
            **chosen(self, "workers", "oversubscribed", "waiting"),
            **chosen(self, "peak", "shared", "difference", "equal", "plan"),
        }


@dataclass(frozen=True)
class Comparison:
    """Rows that were measured in turn."""

    rows: Sequence[Measurement]

    @property
    def equal(self) -> bool:
        """Whether every row computed what it should."""
        return all(row.equal for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        config = self.rows[0].config
        return {
            "experiment": config.name,
            "repeat": len(self.rows[0].steps),
            "rows": [row.as_dict(self.rows[0]) for row in self.rows],
            "equal": self.equal,
        }


def ratio(slow: Sequence[float], fast: Sequence[float]) -> float | None:
    """Return the median ratio of two series that were measured in turn."""
    pairs = [(s, f) for s, f in zip(slow, fast, strict=True) if f > 0]
    return median(s / f for s, f in pairs) if pairs else None


def of_workers(config: Config, counts: Sequence[int]) -> dict[str, Config]:
    """Return a configuration for each number of workers, by its label."""
    return {f"{count}": config.with_sections(parallel={"workers": count}) for count in counts}


def of_ways(config: Config, names: Sequence[str]) -> dict[str, Config]:
    """Return the configuration as it is, and one for each strategy, by its label."""
    ways = {name: config.with_sections(parallel={"strategy": name}) for name in names}
    return {"configured": config, **ways}


def fma_rate(threads: int) -> float:
    """Measure fused multiply-adds per second, counted per float32 lane, on all threads."""
    seed = np.float32(0.5)
    fma_peak(1, seed)
    with Workers(threads) as workers:
        rounds = fastest_rate(lambda count: workers.run(fma_peak, [(count, seed)] * threads))
    return threads * fma_per_round() * rounds


def measure(settings: Mapping[str, Config], repeat: int) -> Comparison:
    """Measure `repeat` steps of each setting, in turn."""
    tell("rounds measured:", 0, repeat)
    with ExitStack() as stack:
        pairs = [_prepare(label, config, stack) for label, config in settings.items()]
        rows = [row for row, _ in pairs]
        for row, trainer in pairs:
            for _ in range(WARM_UP_STEPS):
                row.losses.append(trainer.step().soft_loss)
        _measure_peaks(rows)
        for done in range(repeat):
            for row, trainer in pairs:
                _measure(row, trainer)
            tell("rounds measured:", done + 1, repeat)
        _measure_peaks(rows)
        first, leader = pairs[0]
        for row, trainer in pairs[1:]:
            losses = np.subtract(first.losses, row.losses)
            logits = leader.model.logits - trainer.model.logits
            # Unlike Python's max, NumPy's keeps NaN.
            row.difference = float(np.max([np.abs(losses).max(), np.abs(logits).max()]))
        return Comparison(rows)


def _prepare(label: str, config: Config, stack: ExitStack) -> tuple[Measurement, Trainer]:
    trainer = stack.enter_context(Trainer(config.without_searches()))
    trainer.warm_up()
    return Measurement(label, config, trainer.descent.plan), trainer


def _measure_peaks(rows: Sequence[Measurement]) -> None:
    """Measure the arithmetic peak for each number of workers; the best of several counts."""
    for count in sorted({row.workers for row in rows if row.workers <= cpu_count()}):
        found = fma_rate(count)
        for row in rows:
            if row.workers == count:
                row.peak = max(found, row.peak or 0.0)


def _measure(row: Measurement, trainer: Trainer) -> None:
    """Take two steps and time the second; the first fills the caches with this row's data."""
    row.losses.append(trainer.step().soft_loss)
    before = dict(trainer.phases.seconds)
    start = time.perf_counter()
    row.losses.append(trainer.step().soft_loss)
    now = time.perf_counter()
    row.passed.append(instructions_per_cycle(IDLE_ROUNDS, 1)[0])
    row.steps.append(now - start)
    for phase in PHASES:
        row.phases.setdefault(phase, []).append(trainer.phases.seconds[phase] - before[phase])
