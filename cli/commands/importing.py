"""`dct import`: converts a circuit file of dct or another program to dct's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.errors import note
from cli.options.common import AsJson, Force
from cli.options.parsing import format_channels, parse_channels
from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.formats.importing import Imported


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Circuit JSON of dct or logicars")],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="CIRCUIT.json", help="File to write", show_default="stdout"
        ),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="auto, dct or logicars")
    ] = "auto",
    name: Annotated[
        str | None, typer.Option(help="Name of the automaton", show_default="the file's name")
    ] = None,
    boundary: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Beyond the grid's edge: zero or periodic", show_default="zero"
        ),
    ] = None,
    height: Annotated[
        int | None, typer.Option(metavar="N", help="Rows of the grid", show_default="16")
    ] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", help="Columns of the grid", show_default="16")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps to the target", show_default="20")
    ] = None,
    fire_rate: Annotated[
        float | None,
        typer.Option(metavar="P", help="Share of cells that update in a step", show_default="1"),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Start state: random, center or zeros", show_default="random"
        ),
    ] = None,
    channels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Channel numbers in the file's order, such as 0,4-7",
            show_default="from the file, or from 0 on",
        ),
    ] = None,
    visible: Annotated[
        list[int] | None,
        typer.Option(
            metavar="CHANNEL",
            help="Channel to judge the automaton by; repeatable",
            show_default="0",
        ),
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
    from difflogic.system.errors import ConfigError
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
    _note(imported)
    if as_json:
        output.show_json({"file": str(file), "output": str(to), **_summary(imported)})


def _summary(imported: Imported) -> dict[str, Any]:
    circuit = imported.automaton.circuit
    return {
        "format": imported.format,
        "name": imported.automaton.name,
        "channels": circuit.channels,
        "gates": circuit.gates,
        "depth": circuit.depth,
        "assumed": dict(imported.assumed),
    }


def _note(imported: Imported) -> None:
    found = _summary(imported)
    note(
        f"read from {found['format']}: {found['gates']} gates, depth {found['depth']}, "
        f"{found['channels']} channel{'s' if found['channels'] > 1 else ''}"
    )
    if imported.assumed:
        note(f"assumed, as the file does not say: {_as_options(imported.assumed)}")


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
