"""`dct bench --profile`: a timeline per worker, and the bottlenecks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.scale.speed.profile import Profile

REPEAT = 20
COLUMNS = 96


def show_profile(config: Config, repeat: int | None, as_json: bool) -> None:
    """Trace some steps, and print timeline and table."""
    from difflogic.library.benchmarking import profile

    with show_progress() as progress:
        found = profile(config, repeat=repeat or REPEAT, progress=progress)
    if as_json:
        output.show_json(found.as_dict())
    else:
        _show(found)


def _show(found: Profile) -> None:
    from difflogic.scale.speed.profile import timeline

    config, workers = found.config, found.plan.workers
    how = ", ".join(found.plan.strategies) or "sequential"
    typer.echo(
        f"{config.name} · batch {config.training.batch} · {counted(workers, 'worker')}, {how} · "
        f"a step of {1000 * found.step_seconds:.2f} ms, the median of {len(found.seconds)}\n"
    )
    for worker, line in enumerate(timeline(found.typical, workers, COLUMNS)):
        typer.echo(f"{worker:>4} {line.rstrip()}")
    typer.echo(
        "\nparallel: F forward, L loss, B backward, . waiting; one thread: s sample, m mix of ops, "
        "r reduce,\nh hard evaluation, o optimizer, f search, c checkpoint; blank: hand-over\n"
    )
    mean = sum(found.seconds) / len(found.seconds)
    table = output.make_table(
        "part | kind | ms | share | gain | remedy",
        (
            (
                part.what,
                part.kind,
                f"{1000 * part.seconds:.3f}",
                f"{100 * part.seconds / mean:.1f} %",
                f"{100 * part.gain / mean:.1f} %" if part.gain else None,
                part.remedy,
            )
            for part in found.bottlenecks
        ),
        texts=2,
    )
    table.columns[-1].justify = "left"
    output.print_table(table)
    cost = f"{100 * found.cost:.1f} %" if found.cost > 0 else "less than can be measured"
    typer.echo(
        f"\nserial share {100 * found.serial_share:.1f} %; tracing costs {cost}, the median of "
        "pairs; tasks and waits are means over workers"
    )
    if found.search is not None and found.search_per_epoch is not None:
        every = found.config.finishing.every
        typer.echo(
            f"searching: {1000 * found.search:.1f} ms after these steps; once in "
            f"{counted(every, 'epoch')}, {1000 * found.search_per_epoch:.2f} ms of each"
        )
