"""`dct import`: converts a circuit file of dct or another program to dct's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.errors import note
from cli.options.common import Force, option
from difflogic.system.quantities import counted, format_ranges, parse_ranges


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Circuit JSON of dct or logicars")],
    to: Annotated[
        Path | None, option("CIRCUIT.json", "File to write", "--output", "-o", shown="stdout")
    ] = None,
    channels: Annotated[
        str | None,
        option(
            "LIST",
            "Channel numbers in the file's order, such as 0,4-7",
            shown="from the file, or from 0 on",
        ),
    ] = None,
    visible: Annotated[
        str | None,
        option(
            "LIST",
            "Channels that are compared with the target",
            shown="from the file, or the first",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Check a circuit file, and convert it to the JSON that other commands read.

    A logicars file says nothing about the grid: what is assumed is reported, and can be edited in
    the JSON.
    """
    from difflogic.formats import importing
    from difflogic.formats.circuit_file import write_circuit
    from difflogic.library.common import write_output
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
    imported = importing.read(
        file,
        () if channels is None else parse_ranges("--channels", channels),
        () if visible is None else parse_ranges("--visible", visible),
    )
    text = write_circuit(imported.automaton)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_output(to, text, force)
    circuit = imported.automaton.circuit
    note(
        f"read from {imported.format}: {circuit.gates} gates, depth {circuit.depth}, "
        f"{counted(circuit.channels, 'channel')}"
    )
    if imported.assumed:
        said = (f"{key} {_shown(value)}" for key, value in imported.assumed.items())
        note(f"assumed, as the file does not say: {', '.join(said)}")


def _shown(value: Any) -> str:
    return format_ranges(value) if isinstance(value, tuple) else f"{value}"
