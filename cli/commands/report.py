"""`dct report`: a run as one page that opens in any browser, the automaton running in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.sources import ALLOW_CODE, EffortName, Source, TimeLimit
from cli.terminal import output
from cli.terminal.warming import announce_hard
from cli.watching import watched


def report(
    source: Source,
    file: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write it.")
    ] = Path("report.html"),
    effort: Annotated[
        EffortName, typer.Option(help="How long to simplify, as for dct simplify.")
    ] = EffortName.normal,
    time_limit: TimeLimit = None,
    without_tests: Annotated[
        bool, typer.Option("--without-tests", help="Leave out what dct eval measures.")
    ] = False,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
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
    from difflogic.library.reporting import report as write
    from difflogic.library.reporting import require_page

    require_page(file, force)
    if not without_tests:
        announce_hard()
    with watched() as progress:
        found = write(
            source,
            file,
            effort=effort.value,
            tests=not without_tests,
            force=force,
            time_limit=time_limit,
            progress=progress,
            allow_code=allow_code,
        )
    size = len(found.page.encode())
    if as_json:
        output.show_json(
            {
                "file": str(file),
                "bytes": size,
                "gates": found.automaton.circuit.gates,
                "tests": found.tested,
            }
        )
    note(f"saved {file}: {size / 1000:.0f} kB, opens in any browser")
