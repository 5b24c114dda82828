"""`dct bench` with several settings to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from cli import ranks as processes
from cli.errors import FAILURE, note
from cli.options.parsing import MOST_RANKS, MOST_WORKERS, numbers, parse_workers
from cli.progress import show_progress
from cli.terminal import output, scaling_report
from cli.terminal.warming import compile_for
from difflogic.system import machine

if TYPE_CHECKING:
    from difflogic.config import Config, Override
    from difflogic.scale.speed.rows import Comparison

ALONE = ("sequential", "oracle")
"""Ways that are shown phase by phase if compared alone."""
OPTIONS = {"workers": "--workers", "ways": "--compare", "grid": "--grid", "ranks": "--ranks"}


HEADS = {"workers": "workers", "ways": "way", "grid": "setting", "ranks": "ranks"}


@dataclass(frozen=True)
class Asked:
    """The settings to compare."""

    workers: tuple[int, ...] = ()
    ways: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, workers: str | None, compare: str | None, grid: Sequence[str], ranks: str | None
    ) -> Asked:
        """Read the options. Raises ConfigError where several of them list settings."""
        from difflogic.system.errors import ConfigError

        ways = tuple(compare.split(",")) if compare else ()
        if len(ways) == 1 and ways[0] in ALONE:
            ways = ()
        if workers is not None and "," not in workers:
            parse_workers(workers)
            workers = None
        asked = cls(
            numbers("--workers", workers, MOST_WORKERS),
            ways,
            tuple(grid),
            _with_one(numbers("--ranks", ranks, MOST_RANKS)),
        )
        given = [OPTIONS[name] for name in OPTIONS if getattr(asked, name)]
        if len(given) > 1 or (given and compare and not ways):
            names = given if len(given) > 1 else [*given, "--compare"]
            both = "both" if len(names) == 2 else "all"
            raise ConfigError(
                f"{' and '.join(names)} {both} list settings to compare: give only one"
            )
        return asked

    @property
    def several(self) -> str:
        """Name of the listed setting; empty if nothing is listed."""
        return next((name for name in OPTIONS if getattr(self, name)), "")


def _with_one(ranks: tuple[int, ...]) -> tuple[int, ...]:
    return ranks and (1, *(count for count in ranks if count > 1))


def show_ranks(
    asked: Asked, config: Config, oversubscribe: bool, repeat: int | None, as_json: bool
) -> None:
    """Measure several numbers of processes, which are started if they are not yet."""
    from difflogic.library.scaling import compare
    from difflogic.system.errors import ConfigError
    from difflogic.system.ranks import started

    most, size = max(asked.ranks), started()
    if most > 1 and size == 1:
        processes.check(config, most, oversubscribe)
        processes.launch(most)
    if most > size:
        raise ConfigError(f"--ranks {most}: the launcher started {size}")
    with processes.joined() as world:
        if not world.leads:
            with world.lockstep():
                compare(config, ranks=asked.ranks, world=world, repeat=repeat)
            world.receive()
            return
        processes.check(config, min(world.here, most), oversubscribe)
        compile_for(config)
        with world.lockstep(), show_progress() as progress:
            found = compare(
                config, ranks=asked.ranks, world=world, repeat=repeat, progress=progress
            )
    _show(asked, config, found, as_json)


def show_several(
    asked: Asked,
    source: str,
    overrides: Sequence[Override],
    config: Config,
    repeat: int | None,
    as_json: bool,
) -> None:
    """Measure, print, and exit 1 if what must be equal is not."""
    from difflogic.library.scaling import compare
    from difflogic.scale.speed.laws import MISSING

    laws = bool(asked.workers) and _has_scipy()
    with show_progress() as progress:
        found = compare(
            source if asked.grid else config,
            overrides if asked.grid else (),
            workers=asked.workers,
            ways=asked.ways,
            grid=asked.grid,
            laws=laws,
            repeat=repeat,
            progress=progress,
            allow_code=True,
        )
    if asked.workers and not laws:
        note(f"note: {MISSING}")
    _show(asked, config, found, as_json)


def _show(asked: Asked, config: Config, found: Comparison, as_json: bool) -> None:
    if as_json:
        output.show_json(
            {
                **found.as_dict(),
                "versions": machine.versions(),
                "cpu": machine.cpu(),
                "processors": machine.processors().as_dict(),
            }
        )
    else:
        grid = f"{config.task.height}×{config.task.width} cells"
        typer.echo(f"{config.name} · {grid} · {len(found.rows[0].steps)} rounds in turn\n")
        scaling_report.show(found, HEADS[asked.several])
        if asked.grid:
            typer.echo("\n" + "\n".join(scaling_report.proposal(found)))
    if not found.equal:
        wrong = ", ".join(row.setting.label for row in found.rows if not row.equal)
        note(
            f"error: {wrong} and {found.rows[0].setting.label} disagree. Ignore the times. Run "
            "dct verify equivalence to find out where."
        )
        raise typer.Exit(FAILURE)


def _has_scipy() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None
