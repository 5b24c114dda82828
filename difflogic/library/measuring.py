"""How good circuits are, and how fast this machine is: `evaluate`, `bench`, `bench_simulation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from difflogic import evaluation
from difflogic.config import BENCHMARK, Config, Override, load_config
from difflogic.library.conditions import Conditions
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.progress import Progress, ProgressCallback, counter
from difflogic.scale.speed import benchmark, rows
from difflogic.scale.speed.learning import SEEDS, Learned, learn
from difflogic.simulation import benchmark as simulation_benchmark
from difflogic.simulation.life import life_automaton
from difflogic.system import machine
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError

LARGE = Conditions(size=(4096, 4096))
"""Conditions that a simulation is usually measured under."""


@dataclass(frozen=True)
class Evaluated:
    """The test results of a trained circuit."""

    source: Loaded
    results: Mapping[str, Any]
    """Plain values, as `dct eval --json` prints them."""

    def __repr__(self) -> str:
        return f"Evaluated({self.source.name!r}, exact={self.exact})"

    @property
    def exact(self) -> bool:
        """Whether no cell is wrong in any required test."""
        return bool(self.results["exact"])


def evaluate(
    source: Source,
    tests: Sequence[str] = (),
    *,
    starts: int | None = None,
    seed: int | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Evaluated:
    """Measure the hard circuit of a run or a model on starts that training never draws.

    `tests` are names as in `dct eval`, by default all that apply. `starts` is the number of starts
    per test; `seed` is that of training by default. `allow_code` is that of `load`. Raises what
    `load` raises, and ConfigError for a circuit file and for tests that do not exist or apply.
    """
    loaded = load(source, allow_code=allow_code)
    if starts is not None and not 1 <= starts <= 65536:
        raise ConfigError(f"{starts} starts: must be from 1 to 65536")
    if seed is not None and not 0 <= seed < 2**63:
        raise ConfigError(f"seed {seed}: must be from 0 to {2**63 - 1}")

    def test(done: int, total: int, name: str) -> None:
        progress(Progress("tests:", done, total, name))

    model = loaded.require_model()
    found = evaluation.evaluate(model, tests, starts=starts, seed=seed, progress=test)
    return Evaluated(loaded, found)


def bench(
    config: Config | str = "checkerboard",
    overrides: Sequence[str] = (),
    *,
    compare: benchmark.Comparison | None = None,
    repeat: int | None = None,
    progress: ProgressCallback = ignore,
) -> benchmark.Report:
    """Measure training steps of a configuration, after a warm-up that compiles the kernels.

    A configuration given by name or file uses the published batch size, unless overrides change it.
    `compare` alternates with the sequential path or the NumPy oracle, and checks that results are
    equal. `repeat` is the number of steps to measure.
    """
    settings = benchmarked(config, overrides)
    usual = rows.REPEAT_WITH_ORACLE if compare == "oracle" else rows.REPEAT
    repeat = usual if repeat is None else repeat
    if repeat < 1:
        raise ConfigError(f"{repeat} repeats: measure at least once")
    count = counter(progress, "steps measured:", repeat)
    return benchmark.run(settings, compare, repeat, count)


def learning(
    config: Config | str | Path,
    overrides: Sequence[str | Override] = (),
    *,
    epochs: int,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> list[Learned]:
    """Train a configuration by the gradient alone on a few seeds; the last row has the medians."""
    if not isinstance(config, Config):
        config = load_config(config, overrides, allow_code=allow_code)
    count = counter(progress, "epochs:", epochs * len(SEEDS))
    return learn(config, epochs, SEEDS, count)


def benchmarked(
    config: Config | str | Path, overrides: Sequence[str | Override], allow_code: bool = False
) -> Config:
    """Return a configuration to measure: as it is, or a named one with the published batch size."""
    if isinstance(config, Config):
        return config
    return load_config(config, overrides, BENCHMARK, allow_code=allow_code)


def bench_simulation(
    source: Source | None = None,
    conditions: Conditions = LARGE,
    *,
    repeat: int = simulation_benchmark.REPEAT,
    workers: int | Literal["auto"] = "auto",
    progress: ProgressCallback = ignore,
) -> simulation_benchmark.Report:
    """Measure the simulation of a circuit from a random start, by all engines.

    The circuit of a run or a model is simplified first; without a source it is the Game of Life,
    built from its rule. Raises what `load` raises, ConfigError and ProofError.
    """
    if repeat < 1 or conditions.steps == 0:
        raise ConfigError("measure at least once, and at least one step")
    loaded = load(life_automaton() if source is None else source)
    automaton = conditions.automaton(loaded, "normal", progress=progress)
    count = machine.cpu_count() if workers == "auto" else workers
    rounds = counter(progress, "measured:", repeat + 1)
    size = automaton.height, automaton.width
    return simulation_benchmark.run(automaton, *size, count, conditions.steps, repeat, rounds)
