"""Training steps of several settings, measured in turn in one process, and compared.

The speed of a shared machine drifts: what is compared is measured side by side, and speed-ups are
medians of pairs. Rows that must compute the same are checked, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

import numpy as np

from difflogic.config import Config
from difflogic.engine.kernels.probes import fma_peak, fma_per_round
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.tracing import WorkStats, sum_of
from difflogic.engine.workers import Workers
from difflogic.model.model import Model
from difflogic.scale.speed.laws import Fit, fit
from difflogic.system.json_values import chosen
from difflogic.system.machine import cpu_count
from difflogic.system.measuring import LEAST_GAIN, Spread, differ, fastest_rate
from difflogic.system.quantities import counted
from difflogic.system.ranks import ALONE, Ranks
from difflogic.training.following import gather, joined
from difflogic.training.phases import PHASES, SHARED, WAITING, PhaseTimer
from difflogic.training.rank_plan import exchanged_bytes
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.step_result import StepResult
from difflogic.training.trainer import Trainer

WAYS = {
    "sequential": "sequential",
    "batch": "samples",
    "cells": "cells",
    "steps": "steps",
    "gates": "gates",
}
"""Ways to share the work, by their [parallel] strategy."""
ORACLE = "oracle"

WARM_UP_STEPS = 3

REPEAT = 30
REPEAT_WITH_ORACLE = 5

ROUNDING = 0.005
"""Of speed-ups, as they are printed."""

ORACLE_GATE_LANES = 2_500_000
"""Size that the oracle is cut down to, in gate evaluations per step: half a second."""
ORACLE_TOLERANCE = 1e-4
"""Of soft losses, float32 kernels against the float64 oracle, after several steps of AdamW."""


@dataclass(frozen=True)
class Setting:
    """What a row measures."""

    label: str
    config: Config
    oracle: bool = False
    """Whether plain NumPy computes it."""
    exact: bool = True
    """Whether it must end with the bits of the first row."""
    ranks: int = 1
    """Processes that share each batch."""


@dataclass
class Row:
    """What was measured of a setting. Times in seconds, sizes in bytes."""

    setting: Setting
    plan: ParallelPlan | None
    """None for plain NumPy."""
    steps: list[float] = field(default_factory=list)
    phases: dict[str, list[float]] = field(default_factory=dict)
    """Of each of `steps`, by phase."""
    losses: list[float] = field(default_factory=list)
    work: WorkStats = field(default_factory=WorkStats)
    spent: float = 0.0
    """In all steps that `work` counts, those between the measured ones, too."""
    pieces: tuple[int, int] = (0, 0)
    """That an automaton step of the batch is cut into; those of groups that one worker keeps."""
    exchange: list[float] = field(default_factory=list)
    """Of what ranks hand over in a step, by itself: nobody is waited for."""
    exchanged_bytes: int = 0
    """What ranks hand over in a step."""
    peak: float | None = None
    """Fused multiply-adds per second on as many threads, measured in the same run."""
    difference: float | None = None
    """Largest difference to the first row; None if there is nothing to compare."""

    @property
    def workers(self) -> int:
        """Of each rank."""
        return 1 if self.plan is None else self.plan.workers

    @property
    def threads(self) -> int:
        """Workers of all ranks."""
        return self.workers * self.setting.ranks

    @property
    def ceiling(self) -> float | None:
        """The speed-up that number and size of tasks allow; None for plain NumPy."""
        if self.plan is None:
            return None
        return self.plan.ceiling() * self.setting.config.training.batch / self.plan.batch

    @property
    def oversubscribed(self) -> bool:
        """Whether there are more workers than cores, if all ranks are on this machine."""
        return self.threads > cpu_count()

    @property
    def per_sample(self) -> list[float]:
        """Seconds of each step, by its samples."""
        return [spent / self.setting.config.training.batch for spent in self.steps]

    @property
    def total(self) -> Spread:
        """Of whole steps."""
        return Spread(tuple(self.steps))

    def phase(self, name: str) -> Spread:
        """Return the seconds of a phase."""
        return Spread(tuple(self.phases[name]))

    @property
    def compared(self) -> str:
        """What of it is compared with the first row."""
        return "soft losses, relative" if self.setting.oracle else "soft losses and logits"

    @property
    def tolerance(self) -> float:
        """Of its difference to the first row."""
        return ORACLE_TOLERANCE if self.setting.oracle else 0.0

    @property
    def equal(self) -> bool:
        """Whether it computed what it should, as far as that was compared; NaN is not equal."""
        return self.difference is None or self.difference <= self.tolerance

    @property
    def steal_ratio(self) -> float:
        """Part of the tasks that were taken from another worker's share."""
        return self.work.steals / self.work.tasks if self.work.tasks else 0.0

    @property
    def waiting(self) -> float:
        """Part of the workers' time in steps that they waited for each other, 0 to 1."""
        return self.work.seconds_waited / (self.workers * self.spent)

    @property
    def samples_per_second(self) -> float:
        return self.setting.config.training.batch / self.total.median

    @property
    def run_seconds(self) -> float:
        """Of the configured epochs, at the median step."""
        return self.setting.config.training.epochs * self.total.median

    def speedup(self, first: Row) -> float | None:
        """Return how many times as many samples per second it does: the median of pairs.

        None above the ceiling: then it measures what else the machine did.
        """
        return self._faster(ratio(first.steps, self.steps), first)

    def phase_speedup(self, phase: str, first: Row) -> float | None:
        """Return the same of one phase alone, of the time that workers were busy.

        None also if there is nothing to compare.
        """
        if phase == WAITING or not any(first.phases.get(phase, ())):
            return None
        found = ratio(first.phases[phase], self.phases[phase])
        return self._faster(found, first, shared=phase in SHARED)

    def efficiency(self, first: Row) -> float | None:
        """Return the speed-up, by as many times as many workers."""
        speedup = self.speedup(first)
        return None if speedup is None else speedup * first.threads / self.threads

    def _faster(self, steps: float | None, first: Row, shared: bool = True) -> float | None:
        batch, before = (row.setting.config.training.batch for row in (self, first))
        bounded = first.threads == 1 and not first.setting.oracle and self.setting.exact
        ceiling = self.ceiling if bounded and shared else None
        return None if steps is None else possible(steps * batch / before, ceiling)

    def hides(self, first: Row) -> bool:
        """Return whether a speed-up is left out since it is above its ceiling."""
        found = [self.speedup(first)] if any(self.steps) and any(first.steps) else []
        if any(self.phases["backward"]) and any(first.phases["backward"]):
            found.append(self.phase_speedup("backward", first))
        return None in found

    def as_dict(self, first: Row) -> dict[str, Any]:
        """Everything, for machines."""
        plan, exchange = self.plan, Spread(tuple(self.exchange))
        return {
            "label": self.setting.label,
            "ranks": self.setting.ranks,
            "batch": self.setting.config.training.batch,
            "step_seconds": self.total.as_dict(),
            "phase_seconds": {name: self.phase(name).as_dict() for name in self.phases},
            "exchange_seconds": exchange.as_dict() if self.exchange else None,
            "speedup": self.speedup(first),
            "phase_speedup": {name: self.phase_speedup(name, first) for name in self.phases},
            "efficiency": self.efficiency(first),
            "bytes": None if plan is None else plan.bytes * self.setting.ranks,
            **chosen(self, "workers", "oversubscribed", "ceiling", "steal_ratio", "waiting"),
            **chosen(self, "pieces", "peak", "exchanged_bytes", "samples_per_second"),
            **chosen(self, "run_seconds", "difference", "tolerance", "equal", "plan"),
        }


class Steps(Protocol):
    """What is measured: a Trainer or a ReferenceTrainer."""

    phases: PhaseTimer

    @property
    def model(self) -> Model:
        """The model as it is now."""

    def step(self) -> StepResult: ...


@dataclass(frozen=True)
class Comparison:
    """Rows that were measured in turn."""

    rows: Sequence[Row]
    fit: Fit | None = None
    """Laws, fitted to rows that differ in their workers alone."""
    fitted_oversubscribed: bool = False
    """Whether the Universal Scalability Law was fitted to rows with more workers than cores."""

    @property
    def equal(self) -> bool:
        """Whether every row computed what it should."""
        return all(row.equal for row in self.rows)

    @property
    def tied(self) -> list[Row]:
        """The row that does most samples per second, and those that cannot be told from it."""
        best = max(self.rows, key=lambda row: row.samples_per_second)
        others = max(1, len(self.rows) - 1)
        return [row for row in self.rows if not differ(best.per_sample, row.per_sample, others)]

    @property
    def best(self) -> Row | None:
        """The fastest row; None if no difference to the next ones was found."""
        tied = self.tied
        return tied[0] if len(tied) == 1 else None

    @property
    def doubt(self) -> str | None:
        """Why nothing follows from these rows for more workers; None if something does."""
        first = self.rows[0]
        for row in self.rows[1:]:
            if row.oversubscribed or first.peak is None or row.peak is None:
                continue
            gain, more = row.peak / first.peak, row.threads / first.threads
            if more > 1 and gain < LEAST_GAIN * more:
                return (
                    f"{row.threads} workers reach {gain:.1f} times the peak of {first.threads}: "
                    "they share cores, or other programs run"
                )
            if more > 1 and not differ(first.steps, row.steps):
                return f"no difference found between {first.threads} and {row.threads} workers"
        return None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        config = self.rows[0].setting.config
        return {
            "experiment": config.name,
            "epochs": config.training.epochs,
            "repeat": len(self.rows[0].steps),
            "rows": [row.as_dict(self.rows[0]) for row in self.rows],
            "fastest": None if self.best is None else self.best.setting.label,
            **chosen(self, "doubt", "fit", "fitted_oversubscribed", "equal"),
        }


def ratio(slow: list[float], fast: list[float]) -> float | None:
    """Median of the pairwise ratios of two series that were measured in turn."""
    pairs = [(s, f) for s, f in zip(slow, fast, strict=True) if f > 0]
    return median(s / f for s, f in pairs) if pairs else None


def possible(speedup: float | None, ceiling: float | None) -> float | None:
    """Return a speed-up, or None if it is above its ceiling, which no measurement can be."""
    if speedup is None or ceiling is None or speedup <= ceiling + ROUNDING:
        return speedup
    return None


def within_reach_of_the_oracle(config: Config) -> Config:
    """Cut automaton steps, and then the batch, until the oracle can finish a step."""
    per_step = config.architecture.gates * config.task.height * config.task.width
    steps = max(1, min(config.automaton.steps, ORACLE_GATE_LANES // per_step))
    batch = max(1, min(config.training.batch, ORACLE_GATE_LANES // (per_step * steps)))
    return config.with_sections(automaton={"steps": steps}, training={"batch": batch})


def fma_rate(threads: int) -> float:
    """Measure fused multiply-adds per second, counted per lane of float32, on all threads."""
    seed = np.float32(0.5)
    fma_peak(1, seed)
    with Workers(threads) as workers:
        rounds = fastest_rate(lambda count: workers.run(fma_peak, [(count, seed)] * threads))
    return threads * fma_per_round() * rounds


def of_workers(config: Config, counts: Sequence[int]) -> list[Setting]:
    """Return a setting for each number of workers."""
    return [
        Setting(f"{count}", config.with_sections(parallel={"workers": count})) for count in counts
    ]


def of_ranks(config: Config, counts: Sequence[int]) -> list[Setting]:
    """Return a setting for each number of processes."""
    return [Setting(counted(count, "rank"), config, ranks=count) for count in counts]


def of_ways(config: Config, names: Sequence[str]) -> list[Setting]:
    """Return the setting as configured, and one for each way to compute it."""
    if ORACLE in names:
        config = within_reach_of_the_oracle(config)
    found = [Setting("configured", config)]
    for name in names:
        way = {} if name == ORACLE else {"strategy": WAYS[name]}
        found.append(Setting(name, config.with_sections(parallel=way), oracle=name == ORACLE))
    return found


def measure(
    settings: Sequence[Setting],
    repeat: int,
    progress: Callable[[int], None] = lambda done: None,
    world: Ranks = ALONE,
) -> Comparison:
    """Measure `repeat` steps of each setting, in turn; `progress` is called after each round.

    Of `world` as many ranks take part in a row as it says, and all call this alike. Rank 0 returns
    all rows, each other one those that it took part in.
    """
    with ExitStack() as stack:
        rows: list[tuple[Row, Steps]] = []
        for setting in settings:
            ranks = world.subgroup(setting.ranks)
            if ranks is not None:
                rows.append(_prepare(setting, ranks, stack))
        for row, steps in rows:
            for _ in range(1 if any(s.oracle for s in settings) else WARM_UP_STEPS):
                row.losses.append(steps.step().soft_loss)
        before = [_work(steps) for _, steps in rows]
        _measure_peaks([row for row, _ in rows], world)
        for done in range(repeat):
            for row, steps in rows:
                _measure(row, steps)
            progress(done + 1)
        _measure_peaks([row for row, _ in rows], world)
        first = rows[0]
        for (row, steps), started in zip(rows, before, strict=True):
            row.work = _work(steps) - started
            if row is not first[0] and row.setting.exact:
                models = None if row.setting.oracle else (first[1].model, steps.model)
                row.difference = distance(first[0].losses, row.losses, models)
        return Comparison([row for row, _ in rows])


def with_laws(comparison: Comparison) -> Comparison:
    """Return a comparison of worker counts with the laws that fit it.

    Where fewer than three counts are within the cores, the Universal Scalability Law is fitted to
    the others, too.
    """
    first = comparison.rows[0]
    within = [row for row in comparison.rows if not row.oversubscribed]
    every = len({row.workers for row in within}) < 3 and len(within) < len(comparison.rows)
    if first.workers != 1 or comparison.doubt is not None:
        return comparison
    inside, used = (
        {row.workers: speedup for row in rows if (speedup := row.speedup(first))}
        for rows in (within, comparison.rows if every else within)
    )
    return Comparison(comparison.rows, fit(inside, used), every)


def _measure_peaks(rows: Sequence[Row], world: Ranks) -> None:
    """Measure the arithmetic peak for each number of workers; the best of several counts."""
    if world.size > 1:
        return  # each rank would measure what the others leave
    for count in sorted({row.workers for row in rows if row.workers <= cpu_count()}):
        found = fma_rate(count)
        for row in rows:
            if row.workers == count:
                row.peak = max(found, row.peak or 0.0)


def _prepare(setting: Setting, ranks: Ranks, stack: ExitStack) -> tuple[Row, Steps]:
    config = setting.config.without_searches()
    if setting.oracle:
        return Row(setting, None), ReferenceTrainer(config)
    if not ranks.leads:
        followed = stack.enter_context(joined(ranks))
        assert followed is not None, "rank 0 gathers in every row"
        return Row(setting, followed.plan), followed
    trainer = stack.enter_context(Trainer(config, ranks=ranks))
    trainer.warm_up()
    gather(trainer, ranks)
    return Row(setting, trainer.plan, pieces=trainer.engine.pieces), trainer


def _work(steps: Steps) -> WorkStats:
    return sum_of(steps.engine.work) if isinstance(steps, Trainer) else WorkStats()


def _measure(row: Row, steps: Steps) -> None:
    ranks = steps.ranks if isinstance(steps, Trainer) else ALONE
    ranks.barrier()  # the others of this row shall not begin while another one is measured
    begun = time.perf_counter()
    seconds, phases, losses = measure_step(steps)
    row.spent += time.perf_counter() - begun
    row.steps.append(seconds)
    row.losses += losses
    for phase, spent in phases.items():
        row.phases.setdefault(phase, []).append(spent)
    if ranks.size > 1:
        row.exchanged_bytes = exchanged_bytes(row.setting.config, steps.model.netlist.parameters)
        row.exchange.append(_exchange(ranks, row.exchanged_bytes))


def measure_step(steps: Steps) -> tuple[float, dict[str, float], list[float]]:
    """Take two steps; return seconds of the second, and of its phases, and the losses of both.

    The first fills the caches with this path's data: another's was measured before.
    """
    losses = [steps.step().soft_loss]
    before = dict(steps.phases.seconds)
    start = time.perf_counter()
    losses.append(steps.step().soft_loss)
    seconds = time.perf_counter() - start
    return seconds, {name: steps.phases.seconds[name] - before[name] for name in PHASES}, losses


def distance(
    ours: Sequence[float], theirs: Sequence[float], models: tuple[Model, Model] | None
) -> float:
    """Return the largest difference of losses and logits; of losses alone, relative, without them.

    NaN if a number is NaN.
    """
    losses = np.array(ours), np.array(theirs)
    if models is None:
        return float(np.max(np.abs(losses[0] - losses[1]) / losses[1]))
    logits = models[0].logits, models[1].logits
    # NumPy's maximum of NaN is NaN, Python's may be the other number.
    return float(np.max([np.abs(x - y).max() for x, y in (losses, logits)]))


def _exchange(ranks: Ranks, size: int) -> float:
    """Return the seconds of handing so many bytes over as in a step, when all are ready."""
    data = np.zeros(size, np.uint8)
    ranks.barrier()
    ranks.add_in_turn(data, lambda: None)
    begun = time.perf_counter()
    ranks.add_in_turn(data, lambda: None)
    return time.perf_counter() - begun
