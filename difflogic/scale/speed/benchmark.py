"""Speed of a training step on this machine, and the share of its arithmetic peak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from difflogic.config import Config
from difflogic.engine.program import compile_program
from difflogic.engine.traffic import Traffic, training
from difflogic.model.model import Model
from difflogic.scale.speed.rows import REPEAT, Row, fma_rate, measure, of_ways
from difflogic.simulation.benchmark import clock_rate
from difflogic.system.callbacks import ignore
from difflogic.system.jit.processor import registers
from difflogic.system.json_values import chosen
from difflogic.system.measuring import peak_memory

Comparison = Literal["sequential", "oracle"]

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
    traffic: Traffic
    """Rows that a tile moves in one automaton step, forward and backward."""
    gates: int
    """Gates evaluated per cell."""
    peak_one_core: float
    """Fused multiply-adds per second of one thread, counted per lane."""
    peak_all_workers: float
    """The same of all workers' threads at once."""
    peak_memory: int | None
    """Memory of the process; None where the system does not tell."""
    clock: float
    """Cycles per second of one core."""
    vector: int
    """Float32 numbers in a vector register."""

    @property
    def config(self) -> Config:
        """The configuration that was measured."""
        return self.path.setting.config

    @property
    def stolen(self) -> float:
        """Tasks per training step that a worker took from another one."""
        # Two steps are done for each that is measured.
        return self.path.work.steals / (2 * len(self.path.steps))

    @property
    def noise(self) -> float:
        """(median - minimum) / minimum of the step: 0 on a quiet machine."""
        return self.path.total.median / self.path.total.minimum - 1

    @property
    def gate_rate(self) -> float:
        """Gate evaluations per second, each including its backward pass."""
        return self.gate_lanes / self.path.total.median

    @property
    def vectors_per_cycle(self) -> float:
        """Vectors of fused multiply-adds per cycle of one core."""
        return self.peak_one_core / (self.vector * self.clock)

    @property
    def limit(self) -> float:
        """Time of the arithmetic alone, on the workers at the measured peak."""
        return self.gate_lanes * OPERATIONS / self.peak_all_workers

    @property
    def share_of_peak(self) -> float:
        """Share of the workers' arithmetic peak that a median step reaches, 0 to 1."""
        return self.limit / self.path.total.median

    @property
    def bytes_per_gate(self) -> float:
        """Bytes moved between registers and memory, per gate and cell, forward and backward."""
        return self.traffic.rows * self._itemsize / self.gates

    @property
    def store_limit(self) -> float:
        """Time of the stores alone, if each worker stores one vector per cycle."""
        stores = self.traffic.stores * self.gate_lanes / self.gates
        numbers = self.vector * 4 / self._itemsize
        return stores / numbers / self.clock / self.path.workers

    @property
    def _itemsize(self) -> int:
        return np.dtype(self.config.training.precision).itemsize

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
            **chosen(self, "speedup", "gate_lanes", "gate_rate", "traffic", "gates"),
            **chosen(self, "peak_one_core", "peak_all_workers", "peak_memory", "clock", "vector"),
            **chosen(self, "vectors_per_cycle", "limit", "share_of_peak", "bytes_per_gate"),
            **chosen(self, "store_limit", "stolen", "noise"),
        }


def run(
    config: Config,
    compare: Comparison | None = None,
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
    program = compile_program(Model.create(config).netlist)
    ones = [row.peak for row in (path, *others) if row.workers == 1 and row.peak]
    return Report(
        path=path,
        compared=others[0] if others else None,
        gate_lanes=program.gates * cells * config.automaton.steps * batch,
        traffic=training(program),
        gates=program.gates,
        peak_one_core=max(ones, default=0.0) or fma_rate(1),
        peak_all_workers=path.peak or fma_rate(path.workers),
        peak_memory=peak_memory(),
        clock=clock_rate(),
        vector=registers().width // np.dtype(np.float32).itemsize,
    )
