"""Speed of a training step on this machine, and the share of its arithmetic peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from difflogic.config import Config
from difflogic.engine.soft.program import compile_program
from difflogic.model.model import Model
from difflogic.speed.measurements import REPEAT, Measurement, fma_rate, measure, of_ways
from difflogic.system.jit.processor import registers
from difflogic.system.json_values import chosen
from difflogic.system.memory import peak_memory

OPERATIONS = 15
"""Fused multiply-adds per gate and lane of a training step: 3 forward, 3 to recompute, 9 back."""


@dataclass(frozen=True)
class Benchmark:
    """Results of a benchmark. Times in seconds, rates per second, memory in bytes."""

    path: Measurement
    gate_lanes: int
    """Gate evaluations of one step's rollouts: gates that are read · cells · steps · batch."""
    peak: float
    """Fused multiply-adds per second of all workers' threads at once, counted per lane."""
    peak_memory: int | None
    """Memory of the process; None where the system does not tell."""

    @property
    def config(self) -> Config:
        """The configuration that was measured."""
        return self.path.config

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
        return self.gate_lanes * OPERATIONS / self.peak

    @property
    def vector_bits(self) -> int:
        """Bits of the vectors that the kernels use."""
        return 8 * registers().width

    @property
    def share_of_peak(self) -> float:
        """Share of the workers' arithmetic peak that a median step reaches.

        Above 1 if the peak was measured beside other programs.
        """
        return self.limit / self.path.total.median

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "experiment": self.config.name,
            "automaton_steps": self.config.automaton.steps,
            "precision": self.config.training.precision,
            "repeat": len(self.path.steps),
            "path": self.path.as_dict(self.path),
            **chosen(self, "gate_lanes", "gate_rate", "peak", "vector_bits"),
            **chosen(self, "peak_memory", "limit", "share_of_peak", "noise"),
        }


def run(config: Config, repeat: int = REPEAT) -> Benchmark:
    """Measure `repeat` training steps of `config`.

    Searches and restarts are left out, since they do not happen in every step.
    """
    (path,) = measure(of_ways(config, ()), repeat).rows
    gates = compile_program(Model.create(config).netlist).gates
    cells = config.task.height * config.task.width
    batch = config.training.batch
    return Benchmark(
        path=path,
        gate_lanes=gates * cells * config.automaton.steps * batch,
        peak=path.peak or fma_rate(path.workers),
        peak_memory=peak_memory(),
    )
