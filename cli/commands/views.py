"""`dct plot`, `dct render`, `dct report`, `dct watch`: pictures and pages of runs and circuits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.calling import Call, calls
from cli.errors import note
from cli.progress import announce_hard, show_progress
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.rendering import Rendered
    from difflogic.library.reporting import Plotted, Reported


@calls("reporting.plot")
def plot(draw: Call, *, file: Path) -> None:
    """Plot the learning curves of a run or a sweep. Needs matplotlib: pip install '.[plot]'.

    A run's figure shows soft and hard loss, accuracy, seconds by phase, the share of decided gates,
    and the ops of perception and update, with the published numbers. A sweep's figure shows the
    share of seeds that are exact at each epoch, with intervals, and gates against epochs.

    Options:
        file --output -o FILE: File to write: .svg, .png or .pdf
    """
    announce_hard()
    found: Plotted = draw()
    note(f"saved {found.file}: curves of a {found.what}, {found.bytes / 1000:.0f} kB")


@calls("rendering.render")
def render(draw: Call) -> None:
    """Draw a rollout as an animation or a strip of frames.

    Cells are exact squares, colours are few, and files are small. The bits are the same as those of
    dct simulate with the same options. The frame after a damaged step shows the damage.

    Try: dct render last -o growth.gif --steps 60 --damage 30:4,4,8x8 --larger
    """
    with show_progress() as progress:
        found: Rendered = draw(progress=progress)
    note(
        f"saved {found.file}: {counted(len(found.steps), 'frame')} of "
        f"{found.height}×{found.width} pixels, {found.bytes / 1000:.1f} kB"
    )


@calls("reporting.report")
def report(
    draw: Call, *, sources: Sequence[Path], tests: bool, file: Path = Path("report.html")
) -> None:
    """Write one web page about a run. It needs no server and no network.

    The automaton runs in the page, as WebAssembly: play it, damage it, and watch it heal. The page
    also shows the circuit, learning curves, the tests of dct eval, equations and the configuration.
    The report of a model or a circuit file shows whatever the file contains. Several sources make a
    gallery, in which each automaton grows, is damaged, and heals.

    Options:
        file --output -o FILE.html: File to write
    """
    if len(sources) == 1 and tests:
        announce_hard()
    with show_progress() as progress:
        found: Reported = draw(progress=progress)
    note(f"saved {file}: {len(found.page.encode()) / 1000:.0f} kB, opens in any browser")


@calls("serving.watch")
def watch(serve: Call) -> None:
    """Show a run or a sweep in a browser, live or afterwards.

    Serves the page on this machine only and prints its link; Ctrl-C stops it. The page cannot
    change the run. A run saves its state about every ten seconds, and the page shows what was saved
    last. The page of dct train --watch is updated every second.
    """
    with serve() as server:
        typer.echo(server.link)
        note("open the link in a browser on this machine; Ctrl-C stops serving, not the run")
        while True:
            server.feed.pause(0.5)
