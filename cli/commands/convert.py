"""`dct export` and `dct import`: circuits for other tools, and from other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.failures import note
from cli.options import TO, SourceOperand
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.declaration import Advanced, Force, Operand, Opt, TimeLimit, Unsimplified
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted


def _list_formats(wanted: bool) -> None:
    if not wanted:
        return
    from difflogic.formats import FORMATS

    rows = ((each.name, f"*{each.suffix}", each.summary) for each in FORMATS.values())
    output.show_table("format | files | what", rows, texts=3)
    raise typer.Exit


def export(
    source: SourceOperand,
    file: Annotated[Path | None, TO, Opt("File to write", shown="stdout")] = None,
    format: Annotated[
        str | None,
        Opt(
            "Format; --list shows all", "NAME", names="--format -f", shown="from the suffix of FILE"
        ),
    ] = None,
    unsimplified: Unsimplified = False,
    comparable: Annotated[
        bool, Advanced("BLIF: keep all inputs and outputs, for equivalence checks by other tools")
    ] = False,
    force: Force = False,
    time_limit: TimeLimit = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the formats", callback=_list_formats, is_eager=True)
    ] = False,
) -> None:
    """Write a circuit for other tools.

    The circuit of a run or a model is simplified and proved equal. It keeps the channels that the
    visible ones depend on, with the numbers they had in training. A circuit file is taken as is.

    Try: dct export last -o circuit.v
    """
    import difflogic

    with show_progress(stop_at_once=True):
        found = difflogic.export(
            source,
            file,
            format,
            unsimplified=unsimplified,
            comparable=comparable,
            force=force,
            time_limit=time_limit,
        )
    automaton = found.automaton
    written = found.format
    circuit = automaton.circuit
    where = f": {file}"
    if file is None:
        _print(found.data)
        where = ""
    note(
        f"{automaton.name} as {written.name}: gates {circuit.gates} · depth {circuit.depth} "
        f"· inputs {len(circuit.read_inputs)} · channels {circuit.channels} · "
        f"{len(found.data)} bytes{where}"
    )
    if written.name == "verilog" and (many := circuit.gates * automaton.height * automaton.width):
        note(f"its grid of {automaton.height}×{automaton.width} cells has {many:,} gates")


def _print(data: bytes) -> None:
    """Write bytes to stdout unchanged: no replaced characters, no translated line ends."""
    if sys.stdout.isatty():
        try:
            data.decode()
        except UnicodeDecodeError:
            raise ConfigError(
                "no terminal can show this binary format: use --output FILE"
            ) from None
    stream = typer.get_binary_stream("stdout")
    stream.write(data)
    stream.flush()


def import_(
    source: Annotated[Path, Operand("Circuit JSON of dct, or a rule of Golly", "FILE")],
    to: Annotated[Path | None, TO, Opt("File to write", "CIRCUIT.json", shown="stdout")] = None,
    force: Force = False,
) -> None:
    """Check a circuit file, and convert it to the JSON that other commands read.

    Golly's rules say nothing about the grid. dct assumes values and reports them; you can edit them
    in the JSON.
    """
    from difflogic.formats.circuit_file import write_circuit
    from difflogic.formats.imported import read
    from difflogic.system.files import write_output

    imported = read(source)
    text = write_circuit(imported.automaton)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_output(to, text, force)
    circuit = imported.automaton.circuit
    note(
        f"read from {'Golly' if imported.assumed else 'dct'}: {counted(circuit.gates, 'gate')}, "
        f"depth {circuit.depth}, {counted(circuit.channels, 'channel')}"
    )
    if imported.assumed:
        assumed = (f"{key} {value}" for key, value in imported.assumed.items())
        note(f"assumed, as the file does not say: {', '.join(assumed)}")
