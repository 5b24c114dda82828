"""How good circuits are, and how fast this machine is: `evaluate`, `bench`, `bench_simulation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from difflogic import evaluation
from difflogic.config import BENCHMARK, Config, load_config
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.library.watching import ShouldStop, Watch, Watched, never, unwatched
from difflogic.scale.speed import benchmark
from difflogic.simulation import benchmark as simulation_benchmark
from difflogic.simulation.life import life_automaton
from difflogic.system import machine
from difflogic.system.errors import ConfigError


@dataclass(frozen=True)
class Evaluated:
    """What the tests of a trained circuit counted."""

    source: Loaded
    results: Mapping[str, Any]
    """Plain values, as `dct eval --json` prints them."""

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
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
    allow_code: bool = False,
) -> Evaluated:
    """Measure the hard circuit of a run or a model on starts that training never draws.

    `tests` are those of `dct eval`, by default all that apply. `starts` replaces the number of
    starts of each test, `seed` the training's for what is drawn. `allow_code` is that of `load`.
    Raises what `load` raises, and ConfigError for a circuit without a model and for tests that do
    not exist or apply.
    """
    loaded, watched = load(source, allow_code=allow_code), Watched(progress, should_stop)
    if starts is not None and not 1 <= starts <= 65536:
        raise ConfigError(f"{starts} starts: give 1 to 65536")
    if seed is not None and not 0 <= seed < 2**63:
        raise ConfigError(f"seed {seed}: give one from 0 to {2**63 - 1}")

    def test(done: int, total: int, name: str) -> None:
        watched.update("tests:", done, total, name)

    model = loaded.require_model()
    found = evaluation.evaluate(model, tests, starts=starts, seed=seed, progress=test)
    return Evaluated(loaded, found)


def bench(
    config: Config | str = "checkerboard",
    overrides: Sequence[str] = (),
    *,
    compare: benchmark.Comparison | None = None,
    repeat: int | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> benchmark.Report:
    """Measure training steps of a configuration, after a warm-up that compiles what it takes.

    Of a configuration by its name or file steps have the published number of samples, where there
    is one that the overrides do not change.
    `compare` measures in turn with the sequential path or the NumPy oracle, and checks that the
    results are equal. `repeat` steps are measured, by default as many as are usual.
    """
    settings = config if isinstance(config, Config) else load_config(config, overrides, BENCHMARK)
    usual = benchmark.REPEAT_WITH_ORACLE if compare == "oracle" else benchmark.REPEAT
    repeat = usual if repeat is None else repeat
    if repeat < 1:
        raise ConfigError(f"{repeat} repeats: measure at least once")
    count = Watched(progress, should_stop).counting("steps measured:", repeat)
    return benchmark.run(settings, compare, repeat, count)


def bench_simulation(
    source: Source | None = None,
    size: tuple[int, int] = (4096, 4096),
    *,
    steps: int | None = None,
    repeat: int = simulation_benchmark.REPEAT,
    workers: int | Literal["auto"] = "auto",
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> simulation_benchmark.Report:
    """Measure the simulation of a circuit from a random start, by all engines.

    That of a run or a model is simplified first; without a source it is the Game of Life, built
    from its rule. Raises what `load` raises, ConfigError and ProofError.
    """
    if repeat < 1 or (steps is not None and steps < 1):
        raise ConfigError("measure at least once, and at least one step")
    if source is None:
        automaton = life_automaton()
    else:
        automaton = small_form(source, progress=progress, should_stop=should_stop)
    count = machine.cpu_count() if workers == "auto" else workers
    rounds = Watched(progress, should_stop).counting("measured:", repeat + 1)
    return simulation_benchmark.run(automaton, *size, count, steps, repeat, rounds)
