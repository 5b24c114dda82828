"""`dct watch`: shows a run live in a local browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.common import number


def watch(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SWEEP", help='Run directory ("last" for the newest) or sweep directory'
        ),
    ] = Path("last"),
    port: Annotated[int, number("Port", 0, 65535, shown="any free one")] = 0,
) -> None:
    """Show a run or a sweep in a browser, live or afterwards.

    Prints a link and serves it until Ctrl-C, to this machine only. Nothing in the page changes the
    run. The page shows what the run has saved, about every ten seconds; dct train --watch updates
    every second.
    """
    from difflogic.library.serving import watch as serve

    with serve(source, port) as server:
        typer.echo(server.link)
        note("open the link in a browser on this machine; Ctrl-C stops serving, not the run")
        while True:
            server.feed.pause(0.5)
