"""`dct export`: writes a trained circuit in a format that other tools read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.parsing import format_channels, parse_size
from cli.options.sources import EffortName, Source, TimeLimit
from cli.terminal import output
from cli.watching import watched

MOST_SIDE = 65536
"""Of a grid in a circuit's file, too."""


def _list_formats(wanted: bool) -> None:
    if not wanted:
        return
    from difflogic.formats import FORMATS

    table = output.new_table("format", "files", "what", texts=3)
    for format in FORMATS.values():
        table.add_row(format.name, f"*{format.suffix}", format.summary)
    output.show_table(table)
    raise typer.Exit


def export(
    source: Source,
    name: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="What to write; --list shows all.",
            show_default="by the suffix of FILE",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it.", show_default="stdout"
        ),
    ] = None,
    unsimplified: Annotated[
        bool, typer.Option("--unsimplified", help="Write the netlist with every gate and channel.")
    ] = False,
    effort: Annotated[
        EffortName, typer.Option(help="How long to simplify, as for dct simplify.")
    ] = EffortName.normal,
    time_limit: TimeLimit = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite FILE if it exists already.")
    ] = False,
    array: Annotated[
        str | None,
        typer.Option(
            metavar="HxW",
            help="verilog: cells of the grid, its module's default.",
            show_default="the grid of training",
        ),
    ] = None,
    comparable: Annotated[
        bool,
        typer.Option(
            "--comparable",
            help="blif, aiger: give the simplified and the unsimplified circuit the same inputs "
            "and outputs, so that other tools can compare them.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what was written to FILE as one JSON object.")
    ] = False,
    list_: Annotated[
        bool,
        typer.Option(
            "--list", help="List the formats, and stop.", callback=_list_formats, is_eager=True
        ),
    ] = False,
) -> None:
    """Write a circuit for other tools.

    That of a run or a model is simplified and proved equal: it has only the channels that the
    visible ones depend on, which keep the numbers that they had in training. A circuit's own file
    is taken as it is.

    Try: dct export last -o circuit.v
    """
    from difflogic.library.exporting import export as write

    _require_choice(name, file, as_json)
    with watched(at_once=True) as progress:
        found = write(
            source,
            file,
            name,
            effort=effort.value,
            unsimplified=unsimplified,
            comparable=comparable,
            force=force,
            time_limit=time_limit,
            progress=progress,
            array=None if array is None else parse_size("--array", array, MOST_SIDE),
        )
    automaton, format, data = found.automaton, found.format, found.data
    circuit = automaton.circuit
    facts = {
        "format": format.name,
        "file": None if file is None else str(file),
        "bytes": len(data),
        "gates": circuit.gates,
        "depth": circuit.depth,
        "inputs": len(circuit.read_inputs),
        "channels": list(circuit.labels),
        "visible": list(automaton.visible),
    }
    if not format.numbered and circuit.labels != tuple(range(circuit.channels)):
        note(
            f"the file cannot say that its channels are {format_channels(circuit.labels)}: dct "
            "import takes that list as --channels"
        )
    if as_json:
        output.show_json(facts)
        return
    if file is None:
        _print(data)
    note(
        f"{automaton.name} as {format.name}: gates {circuit.gates} · "
        f"depth {circuit.depth} · inputs {facts['inputs']} · channels {circuit.channels} · "
        f"{len(data)} bytes" + (f": {file}" if file is not None else "")
    )


def _require_choice(name: str | None, file: Path | None, as_json: bool) -> None:
    from difflogic.formats import FORMATS
    from difflogic.system.errors import ConfigError

    if as_json and file is None:
        raise ConfigError("--json says what was written to a file: name one with --output")
    if name is None and file is None:
        raise ConfigError(f"choose a format with --format: {', '.join(FORMATS)}")


def _print(data: bytes) -> None:
    """Write to stdout as it is: no character is replaced, no line's end is changed."""
    from difflogic.system.errors import ConfigError

    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if sys.stdout.isatty() and text is None:
        raise ConfigError("this format is binary, and no terminal shows it: use --output FILE")
    stream = typer.get_binary_stream("stdout")
    stream.write(data)
    stream.flush()
