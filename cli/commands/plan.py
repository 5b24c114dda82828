"""`dct plan`: how a configuration is cut, shared and held in memory here or elsewhere, and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands import config as config_command
from cli.errors import note
from cli.options.parsing import MOST_WORKERS, named_path, whole_number
from cli.options.sources import ALLOW_CODE
from cli.terminal import output
from cli.terminal.warming import compile_for
from cli.watching import watched

if TYPE_CHECKING:
    from difflogic.library.planning import Planned
    from difflogic.scale.speed.curves import Curves
    from difflogic.scale.speed.network import Network


def plan(
    config: Annotated[
        str | None,
        typer.Argument(
            metavar="CONFIG",
            help=f"Name of a shipped configuration, or a TOML file [default: "
            f"{config_command.SHIPPED}].",
            show_default=False,
        ),
    ] = None,
    small: Annotated[bool, config_command.SMALL] = False,
    overrides: Annotated[list[str] | None, config_command.SET] = None,
    workers: Annotated[str | None, config_command.WORKERS] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=VALUE,…",
            help="Plan for another machine: cores=64,l2=1MB,memory=256GB; also line, vector and "
            "nodes. What is not said is as here.",
            show_default="this one",
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure", help="Measure some steps, to tell how long one takes."
        ),
    ] = True,
    simulate: Annotated[
        str | None,
        typer.Option(
            metavar="N-M",
            help="Replay a step on so many workers, such as 1-128, for each strategy.",
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(2, 4096),
            metavar="N",
            help="Tell whether so many machines pay: messages, bytes, and the latency of a network "
            "that is short enough.",
            show_default=False,
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", parser=named_path, metavar="FILE", help="Draw what --simulate found, too."
        ),
    ] = None,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as one JSON object.")
    ] = False,
) -> None:
    """Show how training is cut into tasks, shared by workers and held in memory, and why.

    No decision lets a result depend on the number of workers.
    """
    from difflogic.config import Override, load_config
    from difflogic.engine.hardware import Machine
    from difflogic.library.planning import plan as make_plan

    given = (
        [] if workers is None else [Override(f"parallel.workers={workers}", f"--workers {workers}")]
    )
    source = config_command.source(config, small, "CONFIG")
    settings = load_config(source, [*(overrides or []), *given], allow_code=allow_code)
    workers_between = None if simulate is None else _between(simulate)
    _check_svg(svg, simulate)
    where = None if machine is None else Machine.parse(machine)
    if measure:
        compile_for(settings)
    with watched() as progress:
        found = make_plan(
            settings,
            machine=where,
            measure=measure,
            simulate=workers_between,
            ranks=ranks,
            progress=progress,
        )
    if as_json:
        output.show_json(found.as_dict())
    else:
        _show(found)
    if svg is not None and found.curves is not None:
        from difflogic.scale.speed.curves import svg_curves
        from difflogic.system.files import write_new

        text = svg_curves(found.curves)
        write_new(svg, lambda file: file.write(text.encode()))
        note(f"drawn in {svg}")
    for warning in found.plan.warnings:
        note(f"warning: {warning}")


def _between(text: str) -> tuple[int, int]:
    from difflogic.system.errors import ConfigError

    found = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_WORKERS:
        raise ConfigError(
            f'--simulate "{text}": give the fewest and the most workers, such as 1-128, from 1 to '
            f"{MOST_WORKERS}"
        )
    return int(found[1]), int(found[2])


def _check_svg(svg: Path | None, simulate: str | None) -> None:
    from difflogic.system.errors import ConfigError
    from difflogic.system.files import check_new_output

    if svg is not None:
        if simulate is None:
            raise ConfigError("--svg draws what --simulate found: give that, too")
        check_new_output(svg)


def _show(found: Planned) -> None:
    typer.echo(_title(found) + "\n")
    table = output.new_table("", "decided", "because", texts=3)
    for each in found.decisions:
        table.add_row(each.what, each.value, each.why)
    output.show_table(table)
    typer.echo()
    for label, text in lines(found):
        typer.echo(f"{label:<18}{text}")
    if found.curves is not None:
        from difflogic.scale.speed.curves import text_curves

        typer.echo("\nspeed-up by workers, simulated; the bar is the best strategy's\n")
        typer.echo("\n".join(text_curves(found.curves)))
        typer.echo()
        for text in comparison(found.curves):
            typer.echo(text)


def comparison(curves: Curves) -> list[str]:
    """Return what is to be said of a simulation beside what was measured."""
    from difflogic.scale.speed.curves import WITHIN

    said = []
    for count, error in curves.errors.items():
        off = "" if abs(error) <= WITHIN else f", more than {100 * WITHIN:.0f} %: a busy machine?"
        said.append(
            f"{count} worker{'' if count == 1 else 's'}: {1000 * curves.planned[count]:.2f} ms "
            f"simulated, {1000 * curves.measured[count]:.2f} ms measured at best: "
            f"{100 * error:+.0f} %{off}"
        )
    beyond = max(curves.measured, default=1)
    said.append(
        f"Beyond {beyond} workers this is a prediction: shared memory, caches and falling clocks "
        "are left out, and shared gates are taken to cost no more than others."
    )
    return said


def _title(found: Planned) -> str:
    from difflogic.engine.plan import counted

    plan, config = found.plan, found.config
    where = "another machine" if plan.machine.described else "this machine"
    cores = counted(plan.machine.cores, "core")
    grid, steps = plan.rollouts.grid, counted(plan.rollouts.steps, "automaton step")
    return (
        f"{config.name} · {grid.height}×{grid.width} cells, {steps}, batch {plan.batch} · "
        f"{where}, {cores}"
    )


def lines(found: Planned) -> list[tuple[str, str]]:
    """Return label and text of what stands below the decisions."""
    plan = found.plan
    counts = sorted({1, 2, 4, 8, 16, plan.workers})
    ceilings = ", ".join(f"{count}: {plan.ceiling(count):.2f}" for count in counts)
    rows = [("ceiling by tasks", f"{ceilings} (workers: times as fast as one)")]
    if found.costs is None or found.expected is None or found.expected_alone is None:
        return rows
    share = found.costs.serial_seconds / found.expected_alone
    elsewhere = ", at the speed of this machine's cores" if plan.machine.described else ""
    rows += [
        (
            "expected step",
            f"{1000 * found.expected:.2f} ms{elsewhere}; {1000 * found.expected_alone:.2f} ms on "
            "one worker, at best",
        ),
        ("serial share", f"{100 * share:.0f} % of a step on one worker"),
    ]
    if found.network is not None:
        rows += network_lines(found.network)
    return rows


def network_lines(found: Network) -> list[tuple[str, str]]:
    """Return the arithmetic of further machines."""
    from difflogic.scale.speed.network import BANDWIDTH
    from difflogic.system.quantities import show_bytes

    def ms(seconds: float) -> str:
        return f"{1000 * seconds:.3g} ms"

    saved = (
        f"{ms(found.alone)} by one, {ms(found.together)} by {found.ranks}, if nothing were handed "
        f"over: {ms(found.saved)} saved"
    )
    handed = (
        f"{found.messages} one after the other per step, {found.large} of them with sums of "
        f"{show_bytes(found.bytes_each)}: {ms(found.transfer)} at {8 * BANDWIDTH / 1e9:.0f} Gbit/s"
    )
    pays = "never: handing over takes longer than it saves"
    if found.saved <= 0:
        pays = "never: the batch has too few samples to share"
    elif found.latency is not None:
        pays = (
            f"where a message arrives within {ms(found.latency)}: ({ms(found.saved)} - "
            f"{ms(found.transfer)}) / {found.messages}"
        )
    return [("machines", saved), ("messages", handed), ("pays", pays)]
