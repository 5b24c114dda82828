"""`dct report`: writes a run as a self-contained web page with a live automaton."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cli.errors import note
from cli.options.common import AllowCode, Effort, Force, Sources, TimeLimit, flag, option
from cli.progress import show_progress
from cli.terminal.warming import announce_hard


def report(
    sources: Sources,
    file: Annotated[Path, option("FILE.html", "File to write", "--output", "-o")] = Path(
        "report.html"
    ),
    effort: Effort = "normal",
    time_limit: TimeLimit = None,
    without_tests: Annotated[bool, flag("--without-tests", "Skip the tests of dct eval")] = False,
    force: Force = False,
    allow_code: AllowCode = False,
) -> None:
    """Write a run as one web page that needs no server and no network.

    The automaton runs in the page, as WebAssembly: play, damage it, and watch it heal. The page
    also shows the circuit, learning curves, the tests of dct eval, equations and the configuration.
    The report of a model or a circuit file shows whatever the file contains. Several sources make a
    gallery, in which each grows, is wounded, and heals.
    """
    from difflogic.library.common import require_output
    from difflogic.library.reporting import SUFFIXES, gallery
    from difflogic.library.reporting import report as write

    require_output(file, SUFFIXES, force)
    if len(sources) > 1:
        with show_progress() as progress:
            page = gallery(
                sources,
                file,
                effort=effort,
                force=force,
                time_limit=time_limit,
                progress=progress,
                allow_code=allow_code,
            )
        _tell(file, page)
        return
    (source,) = sources
    if not without_tests:
        announce_hard()
    with show_progress() as progress:
        found = write(
            source,
            file,
            effort=effort,
            tests=not without_tests,
            force=force,
            time_limit=time_limit,
            progress=progress,
            allow_code=allow_code,
        )
    _tell(file, found.page)


def _tell(file: Path, page: str) -> None:
    note(f"saved {file}: {len(page.encode()) / 1000:.0f} kB, opens in any browser")
