"""`dct verify convergence`: whether every start ends in the target, by theorem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import FAILURE, note
from cli.options.parsing import parse_size
from cli.options.sources import ALLOW_CODE, Source, TimeLimit
from cli.terminal import convergence_report
from cli.watching import watched


def convergence(
    source: Source,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            metavar="HxW",
            help="Rows and columns; may be given again.",
            show_default="that of training",
        ),
    ] = None,
    all_sizes: Annotated[
        bool,
        typer.Option(
            "--all-sizes",
            help="Certify square grids of 4 to 128 cells a side, and all larger grids at once.",
        ),
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            metavar="NAME|FILE",
            help="The experiment whose target is meant, where SOURCE is a circuit's own file.",
            show_default="what a start of zeros ends in",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the certificate there."),
    ] = None,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    time_limit: TimeLimit = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the findings as one JSON object.")
    ] = False,
) -> None:
    """Prove that every start ends in the target and stays there, or show a state that does not.

    Begins with sets of values: from all of them at once, the circuit runs until what is known
    repeats. That holds under every fair schedule, and again after any damage. Where sets are too
    coarse, further methods follow, until the time limit. Exits 1 unless all sizes are proved.
    """
    from difflogic.config import load_config
    from difflogic.library.certifying import MOST_SIDE, certify
    from difflogic.system.errors import ConfigError
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
    grids = [parse_size("--size", size, MOST_SIDE) for size in sizes or []]
    if to is not None and len(grids) > 1:
        raise ConfigError("-o saves the certificate of one grid: give --size once, or not at all")
    # Who names an experiment's file lets its code run, and not that of the source.
    asked = None if task is None else load_config(task, allow_code=True)
    with watched(at_once=True) as progress:
        found = certify(
            source,
            grids,
            task=asked,
            all_sizes=all_sizes,
            time_limit=time_limit,
            progress=progress,
            allow_code=allow_code,
        )
    if task is None and not found.source.trained:
        note(
            "the target is what a start of zeros ends in; --task names the experiment that says one"
        )
    saved = to is not None and found.proved
    if to is not None and saved:
        found.save(to, force=force)
    if as_json:
        convergence_report.show_json(found, str(to) if saved else None)
    elif found.assurance is not None:
        typer.echo(found.assurance.text)
        convergence_report.show_healing([each.as_dict() for each in found.assurance.healing])
    else:
        convergence_report.show(found.findings, found.source.automaton.circuit.gates)
        if all_sizes:
            convergence_report.show_sizes(found.squares, found.theorem)
    if saved and not as_json:
        note(f"saved {to}")
    elif to is not None and not saved:
        note(f"{to} was not written: nothing is proved")
    if not found.proved:
        raise typer.Exit(FAILURE)
