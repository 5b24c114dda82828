"""`dct report`: a run as one page that opens in any browser, the automaton running in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import proving
from cli.errors import note
from cli.options.sources import Source
from cli.simplifying import EffortName, simplified
from cli.terminal import output
from cli.terminal.counter import Counter
from cli.terminal.warming import announce_hard

if TYPE_CHECKING:
    from difflogic.model import Model

SUFFIXES = (".html", ".htm")


def report(
    source: Source,
    file: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write it.")
    ] = Path("report.html"),
    effort: Annotated[
        EffortName, typer.Option(help="How long to simplify, as for dct simplify.")
    ] = EffortName.normal,
    time_limit: proving.TimeLimit = proving.SECONDS,
    without_tests: Annotated[
        bool, typer.Option("--without-tests", help="Leave out what dct eval measures.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite FILE if it exists already.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what was written as one JSON object.")
    ] = False,
) -> None:
    """Write a report of a run: one file that needs no server and no network.

    The automaton runs in it, as WebAssembly: play, paint damage on it, and watch it heal. Beside
    it are the circuit, curves, the tests of dct eval, equations and the configuration. A model or
    a circuit's own file gives a report of what it holds.
    """
    from difflogic import report as reports
    from difflogic.errors import ConfigError
    from difflogic.files import check_output, write_whole

    if file.suffix not in SUFFIXES:
        raise ConfigError(f"{file}: a report is a page: give the file a name that ends in .html")
    check_output(file, force)
    held = reports.read(source)
    small = simplified(source, held.automaton, effort, time_limit)
    results = None if held.model is None or without_tests else _evaluate(held.model)
    content = reports.build(held, small, results).encode()
    write_whole(file, lambda out: out.write(content))
    facts = {
        "file": str(file), "bytes": len(content), "gates": small.circuit.gates,
        "tests": results is not None,
    }  # fmt: skip
    if as_json:
        output.show_json(facts)
    note(f"saved {file}: {len(content) / 1000:.0f} kB, opens in any browser")


def _evaluate(model: Model) -> dict[str, Any]:
    from difflogic import evaluation

    announce_hard()
    with Counter("suites:") as counter:
        return evaluation.evaluate(
            model, progress=lambda done, total, name: counter.update(done, name)
        )
