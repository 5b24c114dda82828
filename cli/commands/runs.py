"""`dct runs`: the runs that there are, the newest at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import note, printable
from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.training.run_list import Listed


def runs(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the runs are.", show_default="runs")
    ] = Path("runs"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the runs as one JSON array.")
    ] = False,
) -> None:
    """List the runs and sweeps of a directory, the newest at the end: it is the "last" one.

    Seconds are those of training. A run that is not finished goes on with dct train --resume RUN,
    or is still at work.
    """
    from difflogic.training.run_list import list_runs

    found = list_runs(directory)
    if as_json:
        output.show_json([listed.as_dict() for listed in found])
        return
    if not found:
        note(f"{directory}: holds no run yet: dct train NAME makes one")
        return
    table = output.new_table(
        "run",
        "begun",
        "experiment",
        "state",
        "seed",
        "epochs",
        "exact",
        "active gates",
        "seconds",
        texts=4,
    )
    for listed in found:
        table.add_row(*map(printable, _row(listed)))
    # A run's name says what it trains, with which seed, and when it was begun.
    output.show_table(table, ("begun", "experiment", "seed", "active gates", "epochs", "seconds"))


def _row(listed: Listed) -> list[str]:
    exact = {True: "yes", False: "no", None: "-"}[listed.exact]
    return [
        str(listed.path),
        f"{listed.begun.astimezone():%Y-%m-%d %H:%M}",
        listed.experiment or "-",
        listed.state,
        _number(listed.seed),
        _number(listed.epochs),
        exact,
        _number(listed.active_gates),
        "-" if listed.seconds is None else f"{listed.seconds:.1f}",
    ]


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
