"""`dct verify circuit`: proves circuits equal, or shows where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import proving
from cli.errors import FAILURE
from cli.options.sources import Source, TimeLimit
from cli.terminal import output
from cli.watching import watched

if TYPE_CHECKING:
    from difflogic.model.automaton import Automaton


def circuit(
    source: Source,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Another run, model or circuit; its channels are matched by their numbers.",
            show_default="the simplified form of the first",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the proof as one JSON object.")
    ] = False,
) -> None:
    """Prove that a circuit and its simplified form do the same, or two given circuits.

    Equal means the same next state of every channel that both have, for every state of all
    channels of the nine cells. Exits 1 if they differ, with a counterexample, or if the time does
    not suffice.
    """
    from difflogic.library.simplifying import prove

    with watched(at_once=True) as progress:
        found = prove(source, against, time_limit=time_limit, progress=progress)
    automaton, other = found.one.automaton, found.other.automaton
    proof, surroundings = found.proof, list(found.surroundings)
    if as_json:
        output.show_json(
            {
                "circuit": str(source),
                "against": str(against) if against else "simplified",
                "gates": [automaton.circuit.gates, other.circuit.gates],
                "surroundings": surroundings,
                "equal": found.equal,
                "proof": proof.as_dict(),
            }
        )
    else:
        names = (str(source), "its simplified form" if against is None else str(against))
        _show_sizes(names, (automaton, other))
        proving.show(proof, names)
        for line in surroundings:
            typer.echo(f"NOT THE SAME AUTOMATON: {line}")
    if not found.equal:
        raise typer.Exit(FAILURE)


def _show_sizes(names: tuple[str, str], automata: tuple[Automaton, Automaton]) -> None:
    table = output.new_table("circuit", "gates", "depth", "channels")
    for name, automaton in zip(names, automata, strict=True):
        each = automaton.circuit
        table.add_row(name, str(each.gates), str(each.depth), str(each.channels))
    output.show_table(table)
    typer.echo()
