"""`dct plan`: how a configuration is cut, shared and held in memory here or elsewhere, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands import config as config_command
from cli.errors import note
from cli.terminal import output
from cli.terminal.warming import compile_for
from cli.watching import watched

if TYPE_CHECKING:
    from difflogic.library.planning import Planned


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

    given = [] if workers is None else [
        Override(f"parallel.workers={workers}", f"--workers {workers}")
    ]  # fmt: skip
    source = config_command.source(config, small, "CONFIG")
    settings = load_config(source, [*(overrides or []), *given], allow_code=True)
    where = None if machine is None else Machine.parse(machine)
    if measure:
        compile_for(settings)
    with watched() as progress:
        found = make_plan(settings, machine=where, measure=measure, progress=progress)
    if as_json:
        output.show_json(found.as_dict())
    else:
        _show(found)
    for warning in found.plan.warnings:
        note(f"warning: {warning}")


def _show(found: Planned) -> None:
    typer.echo(_title(found) + "\n")
    table = output.new_table("", "decided", "because", texts=3)
    for each in found.decisions:
        table.add_row(each.what, each.value, each.why)
    output.show_table(table)
    typer.echo()
    for label, text in lines(found):
        typer.echo(f"{label:<18}{text}")


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
    return rows
