"""How fast training is, also beside the arithmetic peak: `bench`, `compare` and `plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from difflogic.config import BENCHMARK, Config, Override, load_config
from difflogic.engine.soft.program import compile_program
from difflogic.experiment.device_plan import plan_of
from difflogic.experiment.overrides import Set
from difflogic.model.model import Model
from difflogic.speed.measurements import (
    REPEAT,
    Comparison,
    Measurement,
    fma_rate,
    measure,
    of_ways,
    of_workers,
)
from difflogic.system.declaration import Count, checked
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.jit.processor import registers
from difflogic.system.json_values import chosen
from difflogic.system.memory import peak_memory
from difflogic.system.strategy import STRATEGIES
from difflogic.training.plan import ParallelPlan

OPERATIONS = 15
"""Fused multiply-adds per gate and lane of a training step: 3 forward, 3 to recompute, 9 back."""
MOST_WORKERS = 1024
MOST_SETTINGS = 64
"""Settings of a comparison. Each has its own buffers, and a turn in every round."""


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


@checked
def bench(
    config: Config | str | Path = "checkerboard",
    overrides: Sequence[str] = (),
    *,
    repeat: Count | None = None,
) -> Benchmark:
    """Measure training steps of a configuration, after a warm-up that compiles the kernels.

    A configuration given by name or file uses the published batch size, unless overrides change it.
    `repeat` is the number of steps to measure. Searches and restarts are left out, since they do
    not happen in every step.
    """
    settings = _benchmarked(config, overrides)
    (path,) = measure(of_ways(settings, ()), repeat or REPEAT).rows
    gates = compile_program(Model.create(settings).netlist).gates
    cells = settings.task.height * settings.task.width
    batch = settings.training.batch
    return Benchmark(
        path=path,
        gate_lanes=gates * cells * settings.automaton.steps * batch,
        peak=path.peak or fma_rate(path.workers),
        peak_memory=peak_memory(),
    )


def _benchmarked(config: Config | str | Path, overrides: Sequence[str | Override]) -> Config:
    """Return the configuration; one given by name or file has the published batch size."""
    if isinstance(config, Config):
        return config
    return load_config(config, overrides, BENCHMARK)


@checked
def compare(
    config: Config | str | Path = "checkerboard",
    overrides: Sequence[str | Override] = (),
    *,
    workers: Sequence[int] = (),
    ways: Sequence[str] = (),
    repeat: Count | None = None,
) -> Comparison:
    """Measure training steps of several settings in turn, and check that their bits are equal.

    Give one of these: numbers of `workers`, or `ways` to compute a step, as
    `dct bench --compare` has them. Raises ConfigError.
    """
    if bool(workers) == bool(ways):
        raise ConfigError("compare one thing: workers or ways")
    found = _benchmarked(config, overrides)
    settings = _settings(found, workers, ways)
    if len(settings) > MOST_SETTINGS:
        raise ConfigError(f"{len(settings)} settings are too many: compare at most {MOST_SETTINGS}")
    return measure(settings, repeat or REPEAT)


def _settings(config: Config, workers: Sequence[int], ways: Sequence[str]) -> dict[str, Config]:
    for name in ways:
        known = ("sequential", *STRATEGIES)
        if name not in known:
            raise ConfigError(f'no strategy "{name}": {did_you_mean(str(name), known)}')
    if any(not 1 <= count <= MOST_WORKERS for count in workers):
        raise ConfigError(f"worker counts must be from 1 to {MOST_WORKERS}")
    if len(set(workers)) < len(workers) or len(set(ways)) < len(ways):
        raise ConfigError("a setting is listed twice: list it once")
    return of_workers(config, workers) if workers else of_ways(config, ways)


@dataclass(frozen=True)
class Planned:
    """A plan, and plans for other numbers of workers."""

    config: Config
    plan: ParallelPlan
    others: Mapping[int, ParallelPlan] = field(default_factory=dict)
    """Plans for several requested numbers of workers."""

    def __repr__(self) -> str:
        return f"Planned({self.config!r}, {self.plan.workers} workers)"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON."""
        return {
            "experiment": self.config.name,
            "machine": self.plan.machine,
            "plan": self.plan,
            "warnings": self.plan.warnings,
            "by_workers": [
                {"workers": workers, "used": plan.workers, "plan": plan}
                for workers, plan in self.others.items()
            ],
        }


@checked
def plan(
    config: Config | str | Path = "checkerboard",
    overrides: Set = (),
    *,
    workers: Sequence[int] = (),
) -> Planned:
    """Decide how a configuration is trained on this machine.

    `workers` are numbers to compare, by default powers of two up to 16 and the plan's own. Raises
    ConfigError for what cannot be planned.
    """
    settings = config if isinstance(config, Config) else load_config(config, overrides)
    found = plan_of(settings)
    netlist = Model.create(settings).netlist
    others = {}
    for number in workers or sorted({1, 2, 4, 8, 16, found.workers}):
        changed = settings.with_sections(parallel={"workers": number})
        others[number] = plan_of(changed, found.machine, netlist)
    return Planned(settings, found, others)
