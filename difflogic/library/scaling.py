"""Training steps of several settings side by side: `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from difflogic.config import BENCHMARK, Config, Override, load_config
from difflogic.library.measuring import benchmarked
from difflogic.library.progress import ProgressCallback, counter
from difflogic.scale.speed import rows
from difflogic.scale.speed.profile import Profile
from difflogic.scale.speed.profile import profile as trace_steps
from difflogic.scale.speed.rows import (
    ORACLE,
    WAYS,
    Comparison,
    Setting,
    measure,
    of_ranks,
    of_ways,
    of_workers,
    with_laws,
)
from difflogic.scale.sweeps.grid import combinations, parse_axes
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.ranks import ALONE, Ranks

MOST_WORKERS = 1024
MOST_ROWS = 64
"""Each has its buffers, and a turn in every round."""


def compare(
    config: Config | str | Path = "checkerboard",
    overrides: Sequence[str | Override] = (),
    *,
    workers: Sequence[int] = (),
    ways: Sequence[str] = (),
    grid: Sequence[str] = (),
    ranks: Sequence[int] = (),
    world: Ranks = ALONE,
    repeat: int | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Comparison:
    """Measure training steps of several settings in turn, and check that equal bits come out.

    Give one of these: numbers of `workers`; `ways` to compute a step, as
    `dct bench --compare` has them; a `grid`, values of keys such as ``parallel.lanes=16,32``; or
    `ranks`, numbers of processes, out of those in `world`, which all call this. Scaling laws
    are fitted to worker counts. Raises ConfigError.
    """
    if sum(map(bool, (workers, ways, grid, ranks))) != 1:
        raise ConfigError("compare one thing: workers, ways, ranks or a grid")
    if max(ranks, default=1) > world.size:
        raise ConfigError(
            f"{max(ranks)} ranks, but only {world.size} were started: use mpiexec -n {max(ranks)}"
        )
    if grid:
        if isinstance(config, Config):
            raise ConfigError("a grid needs the name or file of a configuration")
        settings = _of_grid(config, overrides, grid, allow_code)
    else:
        found = benchmarked(config, overrides, allow_code)
        settings = of_ranks(found, ranks) if ranks else _settings(found, workers, ways)
    if len(settings) > MOST_ROWS:
        raise ConfigError(f"{len(settings)} settings are too many: compare at most {MOST_ROWS}")
    usual = rows.REPEAT_WITH_ORACLE if ORACLE in ways else rows.REPEAT
    rounds = usual if repeat is None else repeat
    if rounds < 1:
        raise ConfigError(f"{rounds} repeats: measure at least once")
    count = counter(progress, "rounds measured:", rounds)
    result = measure(settings, rounds, count, world)
    return with_laws(result) if workers else result


def profile(
    config: Config | str | Path = "checkerboard",
    overrides: Sequence[str | Override] = (),
    *,
    repeat: int = 20,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Profile:
    """Trace training steps of a configuration: what every worker does when, and what would pay.

    Each is measured beside one that is not traced. Raises ConfigError.
    """
    if repeat < 1:
        raise ConfigError(f"{repeat} repeats: measure at least once")
    settings = benchmarked(config, overrides, allow_code)
    count = counter(progress, "steps traced:", repeat)
    return trace_steps(settings, repeat, count)


def _settings(config: Config, workers: Sequence[int], ways: Sequence[str]) -> list[Setting]:
    for name in ways:
        if name not in (*WAYS, ORACLE):
            raise ConfigError(f'no way "{name}": {did_you_mean(name, [*WAYS, ORACLE])}')
    if any(not 1 <= count <= MOST_WORKERS for count in workers):
        raise ConfigError(f"worker counts must be from 1 to {MOST_WORKERS}")
    if len(set(workers)) < len(workers) or len(set(ways)) < len(ways):
        raise ConfigError("a setting is listed twice: list it once")
    return of_workers(config, workers) if workers else of_ways(config, ways)


def _of_grid(
    source: str | Path, overrides: Sequence[str | Override], grid: Sequence[str], allow_code: bool
) -> list[Setting]:
    found = []
    for values in combinations(parse_axes(grid)):
        changes = [
            Override(f"{key}={value}", f"--grid {key}={value}") for key, value in values.items()
        ]
        config = load_config(source, [*overrides, *changes], BENCHMARK, allow_code=allow_code)
        label = " ".join(f"{key}={value}" for key, value in values.items())
        found.append(Setting(label, config, exact=False))
    return found
