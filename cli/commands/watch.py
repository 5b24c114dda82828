"""`dct watch`: a run as it trains, in a browser on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.parsing import whole_number


def watch(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SWEEP", help="A run's directory, the \"last\" one, or a sweep's directory."
        ),
    ] = Path("last"),
    port: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, 65535), metavar="N", help="Listen there.", show_default="any"
        ),
    ] = 0,
) -> None:
    """Show a run or a sweep in a browser, as it trains, is over, or is stopped and resumed.

    Prints a link, and serves it until Ctrl-C, to this machine alone. Nothing in the page changes
    the run. What is shown is what the run has saved, about every ten seconds; dct train --watch
    shows it every second.
    """
    from difflogic.library.serving import watch as serve

    with serve(source, port) as server:
        typer.echo(server.link)
        note("open the link in a browser of this machine; Ctrl-C ends the page, not the run")
        while True:
            server.feed.pause(0.5)
