"""`dct bench` with several settings: what was asked for, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from cli.commands import config as config_command
from cli.errors import FAILURE, note
from cli.options.parsing import whole_number
from cli.terminal import output, scaling_report
from cli.watching import watched
from difflogic import machine

if TYPE_CHECKING:
    from difflogic.config import Config, Override

ALONE = ("sequential", "oracle")
"""Ways that, alone, are shown phase by phase."""
OPTIONS = {"workers": "--workers", "batches": "--batch", "ways": "--compare", "grid": "--grid"}


@dataclass(frozen=True)
class Asked:
    """What is to be measured in turn."""

    workers: tuple[int, ...] = ()
    batches: tuple[int, ...] = ()
    ways: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, workers: str | None, batch: str | None, compare: str | None, grid: Sequence[str]
    ) -> Asked:
        """Read the options. Raises ConfigError where several of them list settings."""
        from difflogic.errors import ConfigError

        ways = tuple(compare.split(",")) if compare else ()
        if len(ways) == 1 and ways[0] in ALONE:
            ways = ()
        if workers is not None and "," not in workers:
            config_command.parse_workers(workers)
            workers = None
        asked = cls(_numbers("--workers", workers), _numbers("--batch", batch), ways, tuple(grid))
        given = [OPTIONS[name] for name in OPTIONS if getattr(asked, name)]
        if len(given) > 1 or (given and compare and not ways):
            names = given if len(given) > 1 else [*given, "--compare"]
            both = "both" if len(names) == 2 else "all"
            raise ConfigError(
                f"{' and '.join(names)} {both} list what to compare: give one of them"
            )
        return asked

    @property
    def several(self) -> str:
        """Name of what is listed; empty if nothing is."""
        return next((name for name in OPTIONS if getattr(self, name)), "")


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    """Return the numbers of a list such as 1,2,4."""
    if text is None:
        return ()
    parse = whole_number(1, 65536)
    try:
        return tuple(parse(part.strip()) for part in text.split(","))
    except typer.BadParameter as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


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
    from difflogic.scaling.laws import MISSING

    laws = bool(asked.workers) and _has_scipy()
    with watched() as progress:
        found = compare(
            source if asked.grid else config, overrides if asked.grid else (),
            workers=asked.workers, batches=asked.batches, ways=asked.ways, grid=asked.grid,
            laws=laws, repeat=repeat, progress=progress, allow_code=True,
        )  # fmt: skip
    if as_json:
        output.show_json({
            **found.as_dict(), "versions": machine.versions(), "cpu": machine.cpu(),
            "processors": machine.processors().as_dict(),
        })  # fmt: skip
    else:
        grid = f"{config.task.height}×{config.task.width} cells"
        typer.echo(f"{config.name} · {grid} · {len(found.rows[0].steps)} rounds in turn\n")
        heads = {"workers": "workers", "batches": "samples", "ways": "way", "grid": "setting"}
        scaling_report.show(found, heads[asked.several])
        if asked.grid:
            typer.echo("\nthe fastest, for a configuration:\n")
            typer.echo("\n".join(scaling_report.toml_lines(found)))
    if asked.workers and not laws:
        note(f"note: {MISSING}")
    if not found.equal:
        wrong = ", ".join(row.setting.label for row in found.rows if not row.equal)
        note(
            f"error: {wrong} and {found.rows[0].setting.label} do not compute the same. The times "
            "mean nothing. `dct verify equivalence` tells where it goes wrong."
        )
        raise typer.Exit(FAILURE)


def _has_scipy() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None
