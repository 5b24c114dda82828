"""`dct export` and `dct import`: circuits for other tools, and from other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli.errors import note
from cli.options import (
    Effort,
    Force,
    Source,
    TimeLimit,
    Unsimplified,
    flag,
    number,
    option,
    output_file,
    size_option,
)
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, format_ranges, parse_ranges


def _list_formats(wanted: bool) -> None:
    if not wanted:
        return
    from difflogic.formats import FORMATS

    rows = ((each.name, f"*{each.suffix}", each.summary) for each in FORMATS.values())
    output.show_table("format | files | what", rows, texts=3)
    raise typer.Exit


def export(
    source: Source,
    name: Annotated[
        str | None,
        option(
            "NAME", "Format; --list shows all", "--format", "-f", shown="from the suffix of FILE"
        ),
    ] = None,
    file: Annotated[Path | None, output_file("File to write", shown="stdout")] = None,
    unsimplified: Unsimplified = False,
    effort: Effort = "normal",
    time_limit: TimeLimit = None,
    force: Force = False,
    comparable: Annotated[
        bool,
        flag(
            "--comparable",
            "BLIF, AIGER: keep all inputs and outputs, for equivalence checks by other tools",
            rare=True,
        ),
    ] = False,
    claim: Annotated[
        Literal["converges", "invariant", "holds", "heals", "heals-invariant"] | None,
        option(
            None,
            "Write a property of a whole grid for model checkers, as AIGER",
            "--property",
            shown=False,
        ),
    ] = None,
    grid: Annotated[Any, size_option("grid", "Grid of --property")] = None,
    task: Annotated[
        str | None,
        option("CONFIG", "Task whose target --property uses", shown="the state that zeros end in"),
    ] = None,
    from_step: Annotated[
        int | None, number("First step at which --property must hold", 0, 4096, shown="as proved")
    ] = None,
    within: Annotated[
        int | None,
        number("For --property heals: steps until damage has healed", 1, 4096, shown="as proved"),
    ] = None,
    list_: Annotated[
        bool, flag("--list", "List the formats", callback=_list_formats, is_eager=True)
    ] = False,
) -> None:
    """Write a circuit for other tools.

    The circuit of a run or a model is simplified and proved equal. It keeps the channels that the
    visible ones depend on, with the numbers they had in training. A circuit file is taken as is.

    Try: dct export last -o circuit.v
    """
    from difflogic.library.certifying import state_property
    from difflogic.library.exporting import export as write

    if claim is None and (grid, task, from_step, within) != (None, None, None, None):
        raise ConfigError("--grid, --task, --from-step and --within need a --property")
    if claim is not None:
        if within is not None and not claim.startswith("heals"):
            raise ConfigError("--within applies only to --property heals and heals-invariant")
        if file is None:
            raise ConfigError("--property needs a file: name one, such as -o property.aig")
        with show_progress() as progress:
            made = state_property(
                source,
                file,
                claim,
                grid,
                task=task,
                from_step=from_step,
                within=within,
                time_limit=time_limit,
                force=force,
                progress=progress,
            )
        verdict = "" if made.finding is None else f", {made.finding.verdict.value} here"
        when = "" if made.within is None else f", within {made.within} steps of damage"
        note(
            f"{claim} from step {made.from_step} on{when}, {made.height}×{made.width} cells"
            f"{verdict} · {made.bytes} bytes: {file}"
        )
        return
    with show_progress(stop_at_once=True) as progress:
        found = write(
            source,
            file,
            name,
            effort=effort,
            unsimplified=unsimplified,
            comparable=comparable,
            force=force,
            time_limit=time_limit,
            progress=progress,
        )
    circuit, format = found.automaton.circuit, found.format
    if not format.numbered and circuit.labels != tuple(range(circuit.channels)):
        note(
            f"the format cannot store the channel numbers {format_ranges(circuit.labels)}: give "
            "them to dct import as --channels"
        )
    if file is None:
        _print(found.data)
    where = "" if file is None else f": {file}"
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Circuit JSON of dct or logicars")],
    to: Annotated[Path | None, output_file("File to write", "CIRCUIT.json", shown="stdout")] = None,
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

    A logicars file says nothing about the grid. dct then assumes values and reports them; you can
    edit them in the JSON.
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
        assumed = (
            f"{key} {format_ranges(value) if isinstance(value, tuple) else value}"
            for key, value in imported.assumed.items()
        )
        note(f"assumed, as the file does not say: {', '.join(assumed)}")
