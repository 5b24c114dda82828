"""`dct import`: converts a circuit file of dct or another program to dct's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.errors import note
from cli.options.common import AsJson, Force, option
from cli.options.parsing import format_channels, parse_channels
from cli.terminal import output
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Circuit JSON of dct or logicars")],
    to: Annotated[
        Path | None, option("CIRCUIT.json", "File to write", "--output", "-o", shown="stdout")
    ] = None,
    format_: Annotated[str, option("NAME", "auto, dct or logicars", "--format")] = "auto",
    name: Annotated[
        str | None, option("NAME", "Name of the automaton", shown="the file's name")
    ] = None,
    boundary: Annotated[
        str | None, option("NAME", "Beyond the grid's edge: zero or periodic", shown="zero")
    ] = None,
    height: Annotated[int | None, option("N", "Rows of the grid", shown="16")] = None,
    width: Annotated[int | None, option("N", "Columns of the grid", shown="16")] = None,
    steps: Annotated[int | None, option("N", "Steps to the target", shown="20")] = None,
    fire_rate: Annotated[
        float | None, option("P", "Share of cells that update in a step", shown="1")
    ] = None,
    start: Annotated[
        str | None, option("NAME", "Start state: random, center or zeros", shown="random")
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
        list[int] | None,
        option("CHANNEL", "Channel to judge the automaton by; repeatable", shown="0"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Check a circuit file, and convert it to the JSON that other commands read.

    Options override what a dct file says. A logicars file says nothing about the grid, so defaults
    are assumed, and reported. --json needs --output.
    """
    from difflogic.formats import importing
    from difflogic.formats.write_circuit import write_circuit
    from difflogic.system.files import check_output, write_whole

    if as_json and to is None:
        raise ConfigError("--json describes a written file: name one with --output")
    options: dict[str, Any] = {
        "name": name,
        "boundary": boundary,
        "height": height,
        "width": width,
        "steps": steps,
        "fire_rate": fire_rate,
        "start": start,
        "visible": tuple(visible) if visible else None,
        "channels": None if channels is None else parse_channels(channels),
    }
    if to is not None:
        check_output(to, force)
    given = {key: value for key, value in options.items() if value is not None}
    imported = importing.read(file, format_, given)
    text = write_circuit(imported.automaton)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_whole(to, lambda out: out.write(text.encode()))
    circuit = imported.automaton.circuit
    note(
        f"read from {imported.format}: {circuit.gates} gates, depth {circuit.depth}, "
        f"{counted(circuit.channels, 'channel')}"
    )
    if imported.assumed:
        note(f"assumed, as the file does not say: {_as_options(imported.assumed)}")
    if as_json:
        output.show_json(
            {
                "file": str(file),
                "output": str(to),
                "format": imported.format,
                "name": imported.automaton.name,
                "channels": circuit.channels,
                "gates": circuit.gates,
                "depth": circuit.depth,
                "assumed": dict(imported.assumed),
            }
        )


def _as_options(values: Any) -> str:
    """Return fields as the options that would give them."""
    parts = []
    for key, value in values.items():
        if key == "channels":
            parts.append(f"--channels {format_channels(value)}")
            continue
        for item in value if isinstance(value, tuple) else (value,):
            shown = f"{item:g}" if isinstance(item, float) else str(item)
            parts.append(f"--{key.replace('_', '-')} {shown}")
    return " ".join(parts)
