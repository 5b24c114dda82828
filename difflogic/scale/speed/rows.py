"""Training steps of several settings, measured in turn in one process, and compared.

The speed of a shared machine drifts: what is compared is measured side by side, and speed-ups are
medians of pairs. Rows that must compute the same are checked, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan, counted
from difflogic.engine.work import WorkStats, sum_of
from difflogic.scale.speed.benchmark import (
    ORACLE_TOLERANCE,
    WARM_UP_STEPS,
    Steps,
    distance,
    fma_rate,
    measure_step,
    possible,
    ratio,
    within_reach_of_the_oracle,
)
from difflogic.scale.speed.laws import Fit, fit
from difflogic.system.machine import cpu_count
from difflogic.system.measuring import LEAST_GAIN, Spread, differ
from difflogic.system.ranks import ALONE, Ranks
from difflogic.training.following import gather, joined
from difflogic.training.rank_plan import exchanged_bytes
from difflogic.training.reference import ReferenceTrainer
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
    backward: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    work: WorkStats = field(default_factory=WorkStats)
    spent: float = 0.0
    """In all steps that `work` counts, those between the measured ones, too."""
    reduce: list[float] = field(default_factory=list)
    """Of adding gradients up, with what other ranks are waited for."""
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

    @property
    def equal(self) -> bool:
        """Whether it computed what it should, as far as that was compared; NaN is not equal."""
        if self.difference is None:
            return True
        return self.difference <= (ORACLE_TOLERANCE if self.setting.oracle else 0.0)

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

    def backward_speedup(self, first: Row) -> float | None:
        """Return the same of the backward pass alone, of the time that workers were busy."""
        return self._faster(ratio(first.backward, self.backward), first)

    def efficiency(self, first: Row) -> float | None:
        """Return the speed-up, by as many times as many workers."""
        speedup = self.speedup(first)
        return None if speedup is None else speedup * first.threads / self.threads

    def _faster(self, steps: float | None, first: Row) -> float | None:
        batch, before = (row.setting.config.training.batch for row in (self, first))
        comparable = first.threads == 1 and self.setting.exact
        bound = self.ceiling if comparable else None
        return None if steps is None else possible(steps * batch / before, bound)

    def hides(self, first: Row) -> bool:
        """Return whether a speed-up is left out since it is above its ceiling."""
        if first.setting.oracle:
            return False
        found = [self.speedup(first)] if any(self.steps) and any(first.steps) else []
        if any(self.backward) and any(first.backward):
            found.append(self.backward_speedup(first))
        return None in found

    def as_dict(self, first: Row) -> dict[str, Any]:
        """Everything, for machines."""
        speedup, plan = self.speedup(first), self.plan
        return {
            "label": self.setting.label,
            "workers": self.workers,
            "ranks": self.setting.ranks,
            "oversubscribed": self.oversubscribed,
            "batch": self.setting.config.training.batch,
            "step_seconds": self.total.as_dict(),
            "speedup": speedup,
            "efficiency": self.efficiency(first),
            "ceiling": self.ceiling,
            "backward_seconds": Spread(tuple(self.backward)).as_dict(),
            "backward_speedup": self.backward_speedup(first),
            "steal_ratio": self.steal_ratio,
            "waiting": self.waiting,
            "fma_per_second": self.peak,
            "bytes_per_worker": None if plan is None else plan.bytes_per_worker,
            "bytes": None if plan is None else plan.bytes * self.setting.ranks,
            "bytes_handed_over": self.exchanged_bytes,
            "reduce_seconds": Spread(tuple(self.reduce)).as_dict(),
            "exchange_seconds": Spread(tuple(self.exchange)).as_dict() if self.exchange else None,
            "samples_per_second": self.samples_per_second,
            "run_seconds": self.run_seconds,
            "difference": self.difference,
            "equal": self.equal,
            "strategies": None if plan is None else plan.strategies,
        }


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
            "doubt": self.doubt,
            "fit": None if self.fit is None else self.fit.as_dict(),
            "fitted_oversubscribed": self.fitted_oversubscribed,
            "equal": self.equal,
        }


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
    return Row(setting, trainer.plan), trainer


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
    row.backward.append(phases["backward"])
    row.reduce.append(phases["reduce"])
    if ranks.size > 1:
        row.exchanged_bytes = exchanged_bytes(row.setting.config, steps.model.netlist.parameters)
        row.exchange.append(_exchange(ranks, row.exchanged_bytes))


def _exchange(ranks: Ranks, size: int) -> float:
    """Return the seconds of handing so many bytes over as in a step, when all are ready."""
    data = np.zeros(size, np.uint8)
    ranks.barrier()
    ranks.add_in_turn(data, lambda: None)
    begun = time.perf_counter()
    ranks.add_in_turn(data, lambda: None)
    return time.perf_counter() - begun
