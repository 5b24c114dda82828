"""`dct bench` with a list of settings to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from cli import ranks as processes
from cli.errors import FAILURE, note
from cli.progress import compile_kernels, show_progress
from cli.terminal import output
from difflogic.system import machine
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import show_bytes

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.scale.speed.rows import Comparison, Row

ALONE = ("sequential", "oracle")
"""A single one of these ways is shown phase by phase instead."""
OPTIONS = {"workers": "--workers", "ways": "--compare", "ranks": "--ranks"}
HEADS = {"workers": "workers", "ways": "way", "ranks": "ranks"}

OVERSUBSCRIBED = " *"
"""Marks a row with more workers than cores."""
ABOVE_CEILING = (
    "speed-ups shown as - are above their ceiling: other programs disturbed the measurement"
)


@dataclass(frozen=True)
class Compared:
    """The settings to compare: at most one of these lists has any."""

    workers: tuple[int, ...] = ()
    ways: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, workers: int | str | tuple[int, ...] | None, compare: str | None, ranks: Sequence[int]
    ) -> Compared:
        """Read the options. Raises ConfigError if several of them list settings."""
        ways = tuple(compare.split(",")) if compare else ()
        if len(ways) == 1 and ways[0] in ALONE:
            ways = ()
        counts = (1, *(count for count in ranks if count > 1)) if ranks else ()
        compared = cls(workers if isinstance(workers, tuple) else (), ways, counts)
        given = [OPTIONS[name] for name in OPTIONS if getattr(compared, name)]
        if given and compare and not ways:
            given.append("--compare")
        if len(given) > 1:
            both = "both" if len(given) == 2 else "all"
            raise ConfigError(
                f"{' and '.join(given)} {both} list settings to compare: give only one"
            )
        return compared

    @property
    def listed(self) -> str:
        """Name of the setting that is listed; empty if there is no list."""
        return next((name for name in OPTIONS if getattr(self, name)), "")


def show_ranks(
    compared: Compared, config: Config, oversubscribe: bool, repeat: int | None, as_json: bool
) -> None:
    """Measure several numbers of processes, and start them unless they run already."""
    from difflogic.library.benchmarking import compare
    from difflogic.system.ranks import started

    most, size = max(compared.ranks), started()
    if most > 1 and size == 1:
        processes.check(config, most, oversubscribe)
        processes.launch(most)
    if most > size:
        raise ConfigError(f"--ranks {most}: the launcher started {size}")
    with processes.joined() as world:
        if not world.leads:
            with world.lockstep():
                compare(config, ranks=compared.ranks, world=world, repeat=repeat)
            world.receive()
            return
        processes.check(config, min(world.here, most), oversubscribe)
        compile_kernels(config)
        with world.lockstep(), show_progress() as progress:
            found = compare(
                config, ranks=compared.ranks, world=world, repeat=repeat, progress=progress
            )
    _show(compared, config, found, as_json)


def show_several(compared: Compared, config: Config, repeat: int | None, as_json: bool) -> None:
    """Measure, print, and exit 1 if results disagree that must be equal."""
    from difflogic.library.benchmarking import compare

    with show_progress() as progress:
        found = compare(
            config, workers=compared.workers, ways=compared.ways, repeat=repeat, progress=progress
        )
    _show(compared, config, found, as_json)


def _show(compared: Compared, config: Config, found: Comparison, as_json: bool) -> None:
    if as_json:
        output.show_json(found.as_dict() | machine_facts())
    else:
        grid = f"{config.task.height}×{config.task.width} cells"
        typer.echo(f"{config.name} · {grid} · {len(found.rows[0].steps)} rounds in turn\n")
        _show_table(found, HEADS[compared.listed])
        typer.echo("\n" + "\n".join(_lines(found)))
    if not found.equal:
        wrong = ", ".join(row.setting.label for row in found.rows if not row.equal)
        note(
            f"error: {wrong} and {found.rows[0].setting.label} disagree. Ignore the times. Run "
            "dct verify equivalence to find out where."
        )
        raise typer.Exit(FAILURE)


def machine_facts() -> dict[str, Any]:
    """Return the facts about the machine in the JSON of a measurement."""
    return {
        "versions": machine.versions(),
        "cpu": machine.cpu(),
        "processors": machine.processors(),
    }


def _show_table(found: Comparison, head: str) -> None:
    heads = (
        f"{head} | min | ms | max | speed-up | efficiency | ceiling | stolen | waiting | samples/s"
        " | run | equal"
    )
    ranked = any(row.setting.ranks > 1 for row in found.rows)
    if ranked:
        heads += " | reduce | exchange"
    rows = [
        [*_cells(row, found.rows[0]), *(_exchange(row) if ranked else ())] for row in found.rows
    ]
    output.show_table(heads, rows, spare="samples/s | max")


def _cells(row: Row, first: Row) -> list[Any]:
    total, efficiency = row.total, row.efficiency(first)
    equal = None
    if row.difference is not None:
        equal = "yes" if row.equal else f"NO: {row.difference:.2g}"
    return [
        row.setting.label + (OVERSUBSCRIBED if row.oversubscribed else ""),
        *(f"{1000 * value:.2f}" for value in (total.minimum, total.median, total.maximum)),
        times(row.speedup(first)),
        None if efficiency is None else f"{100 * efficiency:.0f} %",
        times(row.ceiling),
        None if row.plan is None else "{stolen:.1f} of {created:g}".format_map(row.tasks),
        None if row.plan is None else f"{100 * row.waiting:.1f} %",
        f"{row.samples_per_second:.0f}",
        _duration(row.run_seconds),
        equal,
    ]


def _exchange(row: Row) -> list[Any]:
    """Return the cells of comparisons of ranks: median and least milliseconds."""
    exchange = f"{1000 * min(row.exchange):.3f}" if row.exchange else None
    return [f"{1000 * row.phase('reduce').median:.2f}", exchange]


def _lines(found: Comparison) -> list[str]:
    """Return the lines below the table."""
    config = found.rows[0].setting.config
    notes = [
        "ceiling: speed-up limit from the number and size of tasks; stolen: of all tasks of a "
        "step; waiting: share of workers' time; "
        f"run: {config.training.epochs} epochs at the median step"
    ]
    if any(row.oversubscribed for row in found.rows):
        notes.append(
            "*: oversubscribed, more workers than cores: does not predict a larger machine"
        )
    if any(row.speedup(found.rows[0]) is None for row in found.rows):
        notes.append(ABOVE_CEILING)
    last = found.rows[-1]
    if last.exchange:
        notes.append(
            "reduce: median ms to add up gradients, with waiting for other ranks; exchange: least "
            f"ms to exchange {show_bytes(last.exchanged_bytes)} once all are ready"
        )
    if len({row.threads for row in found.rows}) > 1 and found.doubt is not None:
        notes.append(f"no conclusion for other numbers of workers: {found.doubt}")
    law = found.amdahl
    if law is not None:
        limit = "without limit" if law.serial < 1e-6 else f"at most {law.limit:.1f}×"
        counts = ", ".join(map(str, law.workers))
        notes.append(
            f"Amdahl's law, fitted to {counts} workers: {100 * law.serial:.1f} % serial, {limit}"
        )
    return notes


def times(factor: float | None) -> str | None:
    """Format a factor; None if unknown."""
    if factor is None:
        return None
    return f"{factor:.2f}×" if factor < 100 else f"{factor:.0f}×"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
