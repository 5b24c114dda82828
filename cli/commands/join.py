"""`dct join`: makes one circuit of several, in which regions show the parts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failures import note
from cli.options import TO, AsJson, Sources
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.declaration import Force, Opt, TimeLimit

if TYPE_CHECKING:
    from difflogic.library.simplifying import Simplified


def join(
    sources: Sources,
    to: Annotated[Path, TO, Opt("Save the circuit as JSON")],
    time_limit: TimeLimit = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Join circuits into one, in which each cell shows the part that is painted there.

    Held channels say which. All parts grow everywhere, and each is proved to do in the joined
    circuit what it does alone.

    Try: dct render joined.json --paint regions.png -o joined.gif
    """
    import difflogic

    with show_progress(stop_at_once=True, remedy=""):
        found = difflogic.join(sources, time_limit=time_limit)
    found.save(to, force=force)
    output.show(found, as_json, _show)
    note(f"saved {to}")


def _show(found: Simplified) -> None:
    made = found.automaton
    stages = (("joined", found.source.automaton.circuit), ("simplified", made.circuit))
    rows = [(name, circuit.gates, circuit.channels) for name, circuit in stages]
    output.show_table("circuit | gates | channels", rows)
    typer.echo(f"\nproved: {', '.join(made.parts)} do in it what they do alone")
