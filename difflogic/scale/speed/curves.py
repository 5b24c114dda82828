"""Speed-up over workers, simulated for each strategy and held against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.replay import STRATEGIES, Meetings, replay, with_strategy
from difflogic.scale.speed.rows import measure, of_workers
from difflogic.view.plotting.style import COLORS, FAINT, LINES, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        return {
            "experiment": self.config.name,
            "alone": self.alone,
            "strategies": {name: dict(points) for name, points in self.seconds.items()},
            "planned": dict(self.planned),
            "measured": dict(self.measured),
            "errors": self.errors,
            "prediction_beyond": max(self.measured, default=1),
        }


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


def draw(curves: Curves) -> Figure:
    """Return a figure of the speed-up over workers, both by powers of two, a line a strategy."""
    made, ((axes,),) = figure(1, 1, 7.2, 4.8)
    last, least = max(curves.workers), 1.0
    axes.set_title(f"{curves.config.name}: speed-up over workers, simulated from measured costs")
    axes.axvspan(max(curves.measured, default=1), last, color="#f3f3f3", label="prediction")
    axes.plot([1, last], [1, last], color=FAINT, linewidth=1, label="ideal")
    for number, name in enumerate(curves.seconds):
        speedups = [curves.speedup(name, count) for count in curves.workers]
        axes.plot(curves.workers, speedups, LINES[number], color=COLORS[number], label=name)
        least = min(least, *speedups)
    if curves.measured:
        found = [curves.measured[1] / seconds for seconds in curves.measured.values()]
        axes.plot(list(curves.measured), found, "o", color="black", label="measured")
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, 1.1 * last)
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.9 * least, 1.1 * last)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}×")
    axes.set_xlabel("workers")
    axes.legend(loc="upper left")
    return made
