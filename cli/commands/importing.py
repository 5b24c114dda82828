"""`dct import`: turns a circuit's file, dct's own or another program's, into dct's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.errors import note
from cli.options.parsing import format_channels, parse_channels
from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.formats.importing import Imported


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A circuit's JSON, of dct or of logicars.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="CIRCUIT.json",
            help="File to write; without it the circuit goes to stdout.",
        ),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="auto, dct or logicars.")
    ] = "auto",
    name: Annotated[
        str | None, typer.Option(help="What to call the automaton.", show_default="the file's name")
    ] = None,
    boundary: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="zero or periodic: what lies beyond the edge.", show_default="zero"
        ),
    ] = None,
    height: Annotated[
        int | None, typer.Option(metavar="N", help="Rows of the grid.", show_default="16")
    ] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", help="Columns of the grid.", show_default="16")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", help="Steps after which it should be right.", show_default="20"),
    ] = None,
    fire_rate: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Probability that a cell updates in a step.", show_default="1"
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="random, center or zeros: the first state.", show_default="random"
        ),
    ] = None,
    channels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Numbers of the channels, in the file's order, such as 0,4-7.",
            show_default="the file's; logicars: from 0 on",
        ),
    ] = None,
    visible: Annotated[
        list[int] | None,
        typer.Option(
            metavar="CHANNEL",
            help="A channel that the automaton is judged by; may be given again.",
            show_default="0",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier file.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print as one JSON object what was read; needs --output.")
    ] = False,
) -> None:
    """Check a circuit's file, and write it as a CIRCUIT that every other command takes.

    A file of dct says all that the options say; what is given replaces it. One of logicars says
    nothing of the grid, so what is not given is assumed, and noted.
    """
    from difflogic.formats import importing
    from difflogic.formats.write_circuit import write_circuit
    from difflogic.system.errors import ConfigError
    from difflogic.system.files import check_output, write_whole

    if as_json and to is None:
        raise ConfigError("--json prints beside a written file: name that one with --output")
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
        note(f"the file does not say, so this is assumed: {_as_options(imported.assumed)}")


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
