"""Training steps of several settings, measured in turn in one process, and compared.

The speed of a shared machine drifts. Settings are therefore measured side by side, and speed-ups
are medians of pairs. Rows that must compute the same are compared bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.engine.kernels.probes import fma_peak, fma_per_round, instructions_per_cycle
from difflogic.engine.workers import Workers
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.measures import PHASES
from difflogic.speed.spread import Spread, fastest_rate
from difflogic.system.json_values import chosen
from difflogic.system.machine import cpu_count
from difflogic.system.work import tell
from difflogic.training.plan import ParallelPlan
from difflogic.training.reference import ReferenceTrainer

ORACLE = "oracle"

WARM_UP_STEPS = 3

REPEAT = 30
REPEAT_WITH_ORACLE = 5

IDLE_ROUNDS = 5000
"""Rounds of `instructions_per_cycle` beside a step: some ten microseconds."""
FEW_INSTRUCTIONS = 3.5
SHARED = 0.75
"""A core passes four instructions or more in a cycle. One that is shared passes fewer, or fewer
than this share of the most in the same run: docs/notebook/kernels.md."""

ORACLE_GATE_LANES = 2_500_000
"""Largest problem for the oracle, in gate evaluations per step: half a second."""
ORACLE_TOLERANCE = 1e-4
"""For soft losses of float32 kernels and the float64 oracle, after several steps of AdamW."""


@dataclass(frozen=True)
class Setting:
    """What a row measures."""

    label: str
    config: Config
    oracle: bool = False
    """Whether plain NumPy computes it."""


@dataclass
class Measurement:
    """Measurements of a setting. Times in seconds, sizes in bytes."""

    setting: Setting
    plan: ParallelPlan | None
    """None for plain NumPy."""
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
        return 1 if self.plan is None else self.plan.workers

    @property
    def batch(self) -> int:
        """Samples per step."""
        return self.setting.config.training.batch

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
    def tolerance(self) -> float:
        """Largest allowed difference from the first row."""
        return ORACLE_TOLERANCE if self.setting.oracle else 0.0

    @property
    def equal(self) -> bool:
        """Whether the difference is tolerable, if there is one; NaN is not."""
        return self.difference is None or self.difference <= self.tolerance

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
            "label": self.setting.label,
            "batch": self.batch,
            "step_seconds": self.total.as_dict(),
            "phase_seconds": {name: self.phase(name).as_dict() for name in self.phases},
            "speedup": self.speedup(first),
            "efficiency": self.efficiency(first),
            **chosen(self, "workers", "oversubscribed", "waiting"),
            **chosen(self, "peak", "shared", "difference", "tolerance", "equal", "plan"),
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
        config = self.rows[0].setting.config
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


def within_reach_of_the_oracle(config: Config) -> Config:
    """Reduce automaton steps, then the batch, until the oracle can finish a step."""
    per_step = config.architecture.gates * config.task.height * config.task.width
    steps = max(1, min(config.automaton.steps, ORACLE_GATE_LANES // per_step))
    batch = max(1, min(config.training.batch, ORACLE_GATE_LANES // (per_step * steps)))
    return config.with_sections(automaton={"steps": steps}, training={"batch": batch})


def of_workers(config: Config, counts: Sequence[int]) -> list[Setting]:
    """Return a setting for each number of workers."""
    return [
        Setting(f"{count}", config.with_sections(parallel={"workers": count})) for count in counts
    ]


def of_ways(config: Config, names: Sequence[str]) -> list[Setting]:
    """Return the setting as configured, and one for each way to compute it."""
    if ORACLE in names:
        config = within_reach_of_the_oracle(config)
    found = [Setting("configured", config)]
    for name in names:
        way = {} if name == ORACLE else {"strategy": name}
        found.append(Setting(name, config.with_sections(parallel=way), oracle=name == ORACLE))
    return found


def fma_rate(threads: int) -> float:
    """Measure fused multiply-adds per second, counted per float32 lane, on all threads."""
    seed = np.float32(0.5)
    fma_peak(1, seed)
    with Workers(threads) as workers:
        rounds = fastest_rate(lambda count: workers.run(fma_peak, [(count, seed)] * threads))
    return threads * fma_per_round() * rounds


def measure(settings: Sequence[Setting], repeat: int) -> Comparison:
    """Measure `repeat` steps of each setting, in turn."""
    tell("rounds measured:", 0, repeat)
    with ExitStack() as stack:
        pairs = [_prepare(setting, stack) for setting in settings]
        rows = [row for row, _ in pairs]
        for row, trainer in pairs:
            for _ in range(1 if any(s.oracle for s in settings) else WARM_UP_STEPS):
                row.losses.append(trainer.step().soft_loss)
        _measure_peaks(rows)
        for done in range(repeat):
            for row, trainer in pairs:
                _measure(row, trainer)
            tell("rounds measured:", done + 1, repeat)
        _measure_peaks(rows)
        first, leader = pairs[0]
        for row, trainer in pairs[1:]:
            models = None
            if isinstance(leader, Trainer) and isinstance(trainer, Trainer):
                models = leader.model, trainer.model
            row.difference = distance(first.losses, row.losses, models)
        return Comparison(rows)


def _prepare(setting: Setting, stack: ExitStack) -> tuple[Measurement, Trainer | ReferenceTrainer]:
    config = setting.config.without_searches()
    if setting.oracle:
        return Measurement(setting, None), ReferenceTrainer(config.problem, Model.create(config))
    trainer = stack.enter_context(Trainer(config))
    trainer.warm_up()
    return Measurement(setting, trainer.descent.plan), trainer


def _measure_peaks(rows: Sequence[Measurement]) -> None:
    """Measure the arithmetic peak for each number of workers; the best of several counts."""
    for count in sorted({row.workers for row in rows if row.workers <= cpu_count()}):
        found = fma_rate(count)
        for row in rows:
            if row.workers == count:
                row.peak = max(found, row.peak or 0.0)


def _measure(row: Measurement, trainer: Trainer | ReferenceTrainer) -> None:
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


def distance(
    ours: Sequence[float], theirs: Sequence[float], models: tuple[Model, Model] | None
) -> float:
    """Return the largest difference of losses and logits; without models, of losses, relative.

    NaN if a number is NaN.
    """
    losses = np.array(ours), np.array(theirs)
    if models is None:
        return float(np.max(np.abs(losses[0] - losses[1]) / losses[1]))
    logits = models[0].logits, models[1].logits
    # Unlike Python's max, NumPy's keeps NaN.
    return float(np.max([np.abs(x - y).max() for x, y in (losses, logits)]))
