"""Speed of a training step on this machine, and the share of its arithmetic peak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from difflogic.config import Config
from difflogic.engine.program import compile_program
from difflogic.model.model import Model
from difflogic.scale.speed.rows import REPEAT, Row, fma_rate, measure, of_ways
from difflogic.system.callbacks import ignore
from difflogic.system.json_values import chosen
from difflogic.system.measuring import peak_memory

Baseline = Literal["sequential", "oracle"]

OPERATIONS = 15
"""Fused multiply-adds per gate and lane of a training step: 3 forward, 3 to recompute, 9 back."""


@dataclass(frozen=True)
class Report:
    """Results of a benchmark. Times in seconds, rates per second, memory in bytes."""

    path: Row
    compared: Row | None
    """The other path, measured in turn; it holds the difference of the results."""
    gate_lanes: int
    """Gate evaluations of one step's rollouts: gates that are read · cells · steps · batch."""
    peak_one_core: float
    """Fused multiply-adds per second of one thread, counted per lane."""
    peak_all_workers: float
    """The same of all workers' threads at once."""
    peak_memory: int | None
    """Memory of the process; None where the system does not tell."""

    @property
    def config(self) -> Config:
        """The configuration that was measured."""
        return self.path.setting.config

    @property
    def noise(self) -> float:
        """(median - minimum) / minimum of the step: 0 on a quiet machine."""
        return self.path.total.median / self.path.total.minimum - 1

    @property
    def gate_rate(self) -> float:
        """Gate evaluations per second, each including its backward pass."""
        return self.gate_lanes / self.path.total.median

    @property
    def limit(self) -> float:
        """Time of the arithmetic alone, on the workers at the measured peak."""
        return self.gate_lanes * OPERATIONS / self.peak_all_workers

    @property
    def share_of_peak(self) -> float:
        """Share of the workers' arithmetic peak that a median step reaches, 0 to 1."""
        return self.limit / self.path.total.median

    @property
    def speedup(self) -> float | None:
        """Speed-up over the compared path: the median of pairwise ratios."""
        return None if self.compared is None else self.path.speedup(self.compared)

    def phase_speedup(self, phase: str) -> float | None:
        """Return the speed-up of one phase."""
        return None if self.compared is None else self.path.phase_speedup(phase, self.compared)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        first = self.compared or self.path
        return {
            "experiment": self.config.name,
            "automaton_steps": self.config.automaton.steps,
            "precision": self.config.training.precision,
            "repeat": len(self.path.steps),
            "path": self.path.as_dict(first),
            "compared": None if self.compared is None else first.as_dict(first),
            **chosen(self, "speedup", "gate_lanes", "gate_rate", "peak_one_core"),
            **chosen(self, "peak_all_workers", "peak_memory", "limit", "share_of_peak", "noise"),
        }


def run(
    config: Config,
    compare: Baseline | None = None,
    repeat: int = REPEAT,
    progress: Callable[[int], None] = ignore,
) -> Report:
    """Measure `repeat` training steps of `config`, in turn with those of the compared path.

    Searches and restarts are left out, since they do not happen in every step. `progress` is
    called after each repetition. For the oracle, steps and batch are reduced to a size that it can
    finish; the report holds the measured configuration.
    """
    names = [] if compare is None else [compare]
    settings = of_ways(config.without_searches(), names, "parallel")
    config = settings[0].config
    path, *others = measure(settings, repeat, progress).rows
    cells, batch = config.task.height * config.task.width, config.training.batch
    gates = compile_program(Model.create(config).netlist).gates
    ones = [row.peak for row in (path, *others) if row.workers == 1 and row.peak]
    return Report(
        path=path,
        compared=others[0] if others else None,
        gate_lanes=gates * cells * config.automaton.steps * batch,
        peak_one_core=max(ones, default=0.0) or fma_rate(1),
        peak_all_workers=path.peak or fma_rate(path.workers),
        peak_memory=peak_memory(),
    )
