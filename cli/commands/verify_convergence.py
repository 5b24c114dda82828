"""`dct verify convergence`: proves that every start ends in the target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import FAILURE, note
from cli.options.common import AllowCode, AsJson, Force, Source, TimeLimit, flag, option
from cli.options.parsing import parse_size
from cli.progress import show_progress
from cli.terminal import convergence_report
from difflogic.system.errors import ConfigError


def convergence(
    source: Source,
    sizes: Annotated[
        list[str] | None,
        option("HxW", "Rows and columns of the grid; repeatable", "--size", shown="as trained"),
    ] = None,
    all_sizes: Annotated[
        bool,
        flag("--all-sizes", "Certify square grids of side 4 to 128, and all larger grids at once"),
    ] = False,
    task: Annotated[
        str | None,
        option(
            "NAME|FILE",
            "Experiment whose target to prove, for a circuit file",
            shown="the state that zeros end in",
            rare=True,
        ),
    ] = None,
    to: Annotated[Path | None, option("FILE", "Save the certificate", "--output", "-o")] = None,
    force: Force = False,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Prove that every start ends in the target and stays there, or find one that does not.

    The first method runs the circuit on sets of values, from all states at once, until the sets
    repeat. Such a proof holds under every fair schedule, and after any damage. If sets are too
    coarse, other methods follow until the time limit. Exits 1 unless all sizes are proved.
    """
    from difflogic.config import load_config
    from difflogic.library.certifying import MOST_SIDE, certify
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
    grids = [parse_size("--size", size, MOST_SIDE) for size in sizes or []]
    if to is not None and len(grids) > 1:
        raise ConfigError("-o saves the certificate of one grid: give --size at most once")
    # Naming an experiment's file allows its code to run, but not the source's.
    asked = None if task is None else load_config(task, allow_code=True)
    with show_progress(stop_at_once=True) as progress:
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
            "the target is what a start of zeros ends in; use --task to name an experiment instead"
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
        note(f"{to} was not written: there is no proof")
    if not found.proved:
        raise typer.Exit(FAILURE)
