"""Speed-up over workers, simulated for each strategy and held against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.replay import STRATEGIES, Meetings, replay, with_strategy
from difflogic.scale.speed.rows import measure, of_workers
from difflogic.system.json_values import fields_of

MEASURED = (1, 2)
"""Worker counts that a simulation is held against."""
WITHIN = 0.15
"""Part by which it may be off there."""


@dataclass(frozen=True)
class Curves:
    """Seconds of a training step by workers, for each strategy."""

    config: Config
    seconds: Mapping[str, Mapping[int, float]]
    alone: float
    """On one worker."""
    planned: Mapping[int, float]
    """As the plan would share it, for the worker counts that were measured."""
    measured: Mapping[int, float]
    """What was measured there, the least of some steps; empty if nothing was."""

    @property
    def workers(self) -> list[int]:
        return sorted(next(iter(self.seconds.values())))

    def speedup(self, strategy: str, workers: int) -> float:
        """Return how many times as fast as one worker that is."""
        return self.alone / self.seconds[strategy][workers]

    @property
    def errors(self) -> dict[int, float]:
        """Part by which the simulation is above what was measured, by workers."""
        return {count: self.planned[count] / found - 1 for count, found in self.measured.items()}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines, in seconds."""
        return {**fields_of(self, "errors"), "config": self.config.name}


def counts_between(first: int, last: int) -> list[int]:
    """Return worker counts between two: one, powers of two, halfway between, and both ends."""
    powers = [2**k for k in range(11)]
    every = {1, first, last, *powers, *(3 * power for power in powers)}
    return sorted(count for count in every if first <= count <= last or count == 1)


def simulate(
    config: Config,
    plan: ParallelPlan,
    costs: StepCosts,
    counts: Sequence[int],
    repeat: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Curves:
    """Replay a step for each strategy and number of workers; measure `repeat` steps to compare."""
    meetings = Meetings.of(Model.create(config).netlist)
    seconds = {
        strategy: {
            count: replay(with_strategy(plan, strategy, count), costs, meetings) for count in counts
        }
        for strategy in STRATEGIES
    }
    measured = {}
    if repeat:
        rows = measure(of_workers(config.without_searches(), MEASURED), repeat, progress).rows
        measured = {row.workers: row.total.minimum for row in rows}
    planned = {count: replay(plan.at(count), costs, meetings) for count in MEASURED}
    return Curves(config, seconds, replay(plan.at(1), costs), planned, measured)


def text_curves(curves: Curves, width: int = 40) -> list[str]:
    """Draw the best strategy's speed-up as bars, with the speed-up of each strategy."""
    names = list(curves.seconds)
    most = max(curves.speedup(name, count) for name in names for count in curves.workers)
    lines = [f"{'workers':>7}  " + "".join(f"{name:>9}" for name in names)]
    for count in curves.workers:
        speedups = [curves.speedup(name, count) for name in names]
        bar = "#" * round(width * max(speedups) / most)
        figures = "".join(f"{speedup:>8.2f}×" for speedup in speedups)
        lines.append(f"{count:>7}  {figures}  {bar}")
    return lines
