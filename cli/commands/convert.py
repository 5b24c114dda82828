"""`dct export` and `dct import`: circuits for other tools, and from other tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.calling import Call, calls
from cli.errors import note
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.options import Force
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, format_ranges

if TYPE_CHECKING:
    from difflogic.library.certifying import WrittenProperty
    from difflogic.library.exporting import Exported


def _list_formats(wanted: bool) -> None:
    if not wanted:
        return
    from difflogic.formats import FORMATS

    rows = ((each.name, f"*{each.suffix}", each.summary) for each in FORMATS.values())
    output.show_table("format | files | what", rows, texts=3)
    raise typer.Exit


@calls("exporting.export", "certifying.state_property")
def export(
    write: Call,
    write_property: Call,
    *,
    file: Path | None,
    claim: str | None = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the formats", callback=_list_formats, is_eager=True)
    ] = False,
) -> None:
    """Write a circuit for other tools.

    The circuit of a run or a model is simplified and proved equal. It keeps the channels that the
    visible ones depend on, with the numbers they had in training. A circuit file is taken as is.

    Try: dct export last -o circuit.v
    """
    if claim is not None:
        if "within" in write_property.keywords and not claim.startswith("heals"):
            raise ConfigError("--within applies only to --property heals and heals-invariant")
        if file is None:
            raise ConfigError("--property needs a file: name one, such as -o property.aig")
        with show_progress() as progress:
            made: WrittenProperty = write_property(progress=progress)
        verdict = "" if made.finding is None else f", {made.finding.verdict.value} here"
        when = "" if made.within is None else f", within {counted(made.within, 'step')} of damage"
        note(
            f"{claim} from step {made.from_step} on{when}, {made.height}×{made.width} cells"
            f"{verdict} · {made.bytes} bytes: {file}"
        )
        return
    if write_property.keywords.keys() & {"size", "task", "from_step", "within"}:
        raise ConfigError("--grid, --task, --from-step and --within need a --property")
    with show_progress(stop_at_once=True) as progress:
        found: Exported = write(progress=progress)
    circuit, format = found.automaton.circuit, found.format
    if not format.numbered and circuit.labels != tuple(range(circuit.channels)):
        note(
            f"the format cannot store the channel numbers {format_ranges(circuit.labels)}: give "
            "them to dct import as --channels"
        )
    where = f": {file}"
    if file is None:
        _print(found.data)
        where = ""
    note(
        f"{found.automaton.name} as {format.name}: gates {circuit.gates} · depth {circuit.depth} · "
        f"inputs {len(circuit.read_inputs)} · channels {circuit.channels} · "
        f"{len(found.data)} bytes{where}"
    )


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
    file: Path,
    to: Path | None = None,
    channels: Sequence[int] = (),
    visible: Sequence[int] = (),
    force: Force = False,
) -> None:
    """Check a circuit file, and convert it to the JSON that other commands read.

    A logicars file says nothing about the grid. dct then assumes values and reports them; you can
    edit them in the JSON.

    Operands:
        file FILE: Circuit JSON of dct or logicars
    Options:
        to --output -o CIRCUIT.json: File to write, by default stdout
        channels: Channel numbers in the file's order, such as 0,4-7, by default from the file, or
            from 0 on
        visible: Channels that are compared with the target, by default from the file, or the first
    """
    from difflogic.formats import importing
    from difflogic.formats.circuit_file import write_circuit
    from difflogic.library.common import write_output
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
    imported = importing.read(file, channels or (), visible or ())
    text = write_circuit(imported.automaton)
    if to is None:
        typer.echo(text, nl=False)
    else:
        write_output(to, text, force)
    circuit = imported.automaton.circuit
    note(
        f"read from {imported.format}: {counted(circuit.gates, 'gate')}, depth {circuit.depth}, "
        f"{counted(circuit.channels, 'channel')}"
    )
    if imported.assumed:
        assumed = (
            f"{key} {format_ranges(value) if isinstance(value, tuple) else value}"
            for key, value in imported.assumed.items()
        )
        note(f"assumed, as the file does not say: {', '.join(assumed)}")
