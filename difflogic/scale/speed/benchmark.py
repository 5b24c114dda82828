"""How fast a training step is here, and what part of the machine's arithmetic it uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from difflogic.config import Config
from difflogic.engine.program import compile_program
from difflogic.engine.traffic import Traffic, training
from difflogic.model.model import Model
from difflogic.scale.speed.rows import (
    ORACLE,
    REPEAT,
    Row,
    Setting,
    fma_rate,
    measure,
    within_reach_of_the_oracle,
)
from difflogic.simulation.peak import clock_rate
from difflogic.system.jit.processor import registers
from difflogic.system.json_values import chosen
from difflogic.system.measuring import peak_memory

Comparison = Literal["sequential", "oracle"]

OPERATIONS = 15
"""Fused multiply-adds per gate and lane of a training step: 3 forward, 3 to recompute, 9 back."""


@dataclass(frozen=True)
class Report:
    """What a benchmark found. Times in seconds, rates per second, memory in bytes."""

    path: Row
    compared: Row | None
    """What the same was computed by in turn; its difference to `path` is that of the results."""
    gate_lanes: int
    """Gate evaluations of one step's rollouts: gates that are read · cells · steps · batch."""
    traffic: Traffic
    """Rows that a tile moves in one automaton step, on the way forward and back."""
    gates: int
    """That are evaluated per cell."""
    peak_one_core: float
    """Fused multiply-adds per second, counted per lane, of one thread."""
    peak_all_workers: float
    """The same of all the workers' threads at once."""
    peak_memory: int | None
    """Of the process; None where the system does not tell."""
    clock: float
    """Cycles per second of one core."""
    vector: int
    """Numbers of float32 in a vector register."""

    @property
    def config(self) -> Config:
        """The configuration that was measured."""
        return self.path.setting.config

    @property
    def stolen(self) -> float:
        """Tasks per training step that a worker took from another's share."""
        # Two steps are done for each that is measured.
        return self.path.work.steals / (2 * len(self.path.steps))

    @property
    def noise(self) -> float:
        """(median - minimum) / minimum of the step: 0 on a quiet machine."""
        return self.path.total.median / self.path.total.minimum - 1

    @property
    def gate_rate(self) -> float:
        """Gate evaluations per second, each with its share of the backward pass."""
        return self.gate_lanes / self.path.total.median

    @property
    def vectors_per_cycle(self) -> float:
        """Vectors of fused multiply-adds that one core does in a cycle: its units, or nearly."""
        return self.peak_one_core / (self.vector * self.clock)

    @property
    def limit(self) -> float:
        """Seconds that the arithmetic alone would take on the workers at the measured peak."""
        return self.gate_lanes * OPERATIONS / self.peak_all_workers

    @property
    def share_of_peak(self) -> float:
        """Part of the arithmetic peak of the workers that a median step reaches, 0 to 1."""
        return self.limit / self.path.total.median

    @property
    def bytes_per_gate(self) -> float:
        """Bytes between registers and memory, per gate and cell, forward and back."""
        return self.traffic.rows * self._itemsize / self.gates

    @property
    def store_limit(self) -> float:
        """Seconds that the stores alone would take on the workers, one vector per cycle each."""
        stores = self.traffic.stores * self.gate_lanes / self.gates
        numbers = self.vector * 4 / self._itemsize
        return stores / numbers / self.clock / self.path.workers

    @property
    def _itemsize(self) -> int:
        return np.dtype(self.config.training.precision).itemsize

    @property
    def speedup(self) -> float | None:
        """Median step of the compared path over ours: the median of pairwise ratios."""
        return None if self.compared is None else self.path.speedup(self.compared)

    def phase_speedup(self, phase: str) -> float | None:
        """The same for one phase."""
        return None if self.compared is None else self.path.phase_speedup(phase, self.compared)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
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
    progress: Callable[[int], None] = lambda done: None,
) -> Report:
    """Measure `repeat` training steps of `config`, in turn with those of the compared path.

    They are those of one attempt: searches and starting over, which come now and then, are left
    out. `progress` is called after each repetition. Comparing with the oracle cuts steps and batch
    down to a size that it can finish; the report holds the configuration that was measured.
    """
    config = config.without_searches()
    if compare == ORACLE:
        config = within_reach_of_the_oracle(config)
    settings = [Setting("parallel", config)]
    if compare is not None:
        way = {} if compare == ORACLE else {"strategy": compare}
        other = config.with_sections(parallel=way)
        settings.append(Setting(compare, other, oracle=compare == ORACLE))
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
