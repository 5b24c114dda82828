"""`dct verify circuit`: proves circuits equal, or shows where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import proving
from cli.errors import FAILURE
from cli.options.common import AsJson, Source, TimeLimit, option
from cli.progress import show_progress
from cli.terminal import output


def circuit(
    source: Source,
    against: Annotated[
        Path | None,
        option(
            "FILE",
            "Run, model or circuit to compare with, channel by channel",
            shown="the simplified form",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Prove that a circuit equals its simplified form, or another circuit.

    Equal means that every channel in both has the same next state, for every state of the nine
    cells. Exits 1 with a counterexample if the circuits differ, or if time runs out.
    """
    from difflogic.library.simplifying import prove

    with show_progress(stop_at_once=True) as progress:
        found = prove(source, against, time_limit=time_limit, progress=progress)
    automaton, other = found.one.automaton, found.other.automaton
    proof, surroundings = found.proof, list(found.surroundings)
    if as_json:
        output.show_json(
            {
                "circuit": source,
                "against": against or "simplified",
                "gates": [automaton.circuit.gates, other.circuit.gates],
                "surroundings": surroundings,
                "equal": found.equal,
                "proof": proof,
            }
        )
    else:
        names = (str(source), "its simplified form" if against is None else str(against))
        sizes = (
            (name, each.gates, each.depth, each.channels)
            for name, each in zip(names, (automaton.circuit, other.circuit), strict=True)
        )
        output.show_table("circuit | gates | depth | channels", sizes)
        typer.echo()
        proving.show(proof, names)
        for line in surroundings:
            typer.echo(f"NOT THE SAME AUTOMATON: {line}")
    if not found.equal:
        raise typer.Exit(FAILURE)
