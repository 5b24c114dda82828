"""`dct export`: writes a circuit in a format for other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli.errors import note
from cli.options.common import Effort, Force, Source, TimeLimit, Unsimplified, flag, number, option
from cli.options.parsing import parse_size
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import format_ranges


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
    file: Annotated[
        Path | None, option("FILE", "File to write", "--output", "-o", shown="stdout")
    ] = None,
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
    grid: Annotated[
        Any,
        option(
            "HxW",
            "Grid that --property is about",
            parser=lambda text: parse_size("--grid", text),
            shown="as trained",
        ),
    ] = None,
    task: Annotated[
        str | None,
        option(
            "CONFIG", "Task whose target --property is about", shown="the state that zeros end in"
        ),
    ] = None,
    from_step: Annotated[
        int | None, number("First step at which --property has to hold", 0, 4096, shown="as proved")
    ] = None,
    within: Annotated[
        int | None,
        number("For --property heals: steps in which damage must heal", 1, 4096, shown="as proved"),
    ] = None,
    list_: Annotated[
        bool, flag("--list", "List the formats", callback=_list_formats, is_eager=True)
    ] = False,
) -> None:
    """Write a circuit for other tools.

    The circuit of a run or a model is simplified and proved equal: it keeps the channels that the
    visible ones depend on, under the numbers they had in training. A circuit file is taken as is.

    Try: dct export last -o circuit.v
    """
    from difflogic.library.exporting import export as write

    if claim is not None:
        if within is not None and not claim.startswith("heals"):
            raise ConfigError("--within is about --property heals")
        asked = {"task": task, "from_step": from_step, "within": within, "time_limit": time_limit}
        _export_property(source, file, claim, grid, asked, force)
        return
    if (grid, task, from_step, within) != (None, None, None, None):
        raise ConfigError(
            "--grid, --task, --from-step and --within are about a --property: name one"
        )
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


def _export_property(
    source: Path,
    file: Path | None,
    claim: str,
    grid: tuple[int, int] | None,
    asked: dict[str, Any],
    force: bool,
) -> None:
    from difflogic.library.certifying import state_property

    if file is None:
        raise ConfigError("--property needs a file: name one, such as -o property.aig")
    with show_progress() as progress:
        found = state_property(source, file, claim, grid, **asked, force=force, progress=progress)
    verdict = "" if found.finding is None else f", {found.finding.verdict.value} here"
    when = "" if found.within is None else f", within {found.within} steps of damage"
    note(
        f"{claim} from step {found.from_step} on{when}, {found.height}×{found.width} cells"
        f"{verdict} · {found.bytes} bytes: {file}"
    )


def _print(data: bytes) -> None:
    """Write to stdout unchanged: no replaced characters, no translated line ends."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if sys.stdout.isatty() and text is None:
        raise ConfigError("no terminal can show this binary format: use --output FILE")
    stream = typer.get_binary_stream("stdout")
    stream.write(data)
    stream.flush()
