"""`dct plot`, `dct render`, `dct report`, `dct watch`: pictures and pages of runs and circuits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options import (
    AllowCode,
    ConditionOptions,
    Effort,
    Force,
    Source,
    Sources,
    TimeLimit,
    flag,
    number,
    option,
    output_file,
    with_options,
)
from cli.progress import announce_hard, show_progress
from difflogic.system.quantities import counted, parse_ranges


def plot(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|MODEL|SWEEP",
            help='Run directory ("last" for the newest), model file, or sweep directory',
        ),
    ],
    file: Annotated[Path, output_file("File to write: .svg, .png or .pdf")],
    force: Force = False,
) -> None:
    """Plot the learning curves of a run or a sweep. Needs matplotlib: pip install '.[plot]'.

    A run's figure shows soft and hard loss, accuracy, seconds by phase, the share of decided gates,
    and the ops of perception and update, with the published numbers. A sweep's figure shows the
    share of seeds that are exact at each epoch, with intervals, and gates against epochs.
    """
    from difflogic.library.common import require_output
    from difflogic.library.reporting import plot as draw
    from difflogic.view.plotting.style import SUFFIXES, require_matplotlib

    require_output(file, SUFFIXES, force)
    require_matplotlib()
    announce_hard()
    found = draw(source, file, force=force)
    note(f"saved {found.file}: curves of a {found.what}, {found.bytes / 1000:.0f} kB")


@with_options
def render(
    source: Source,
    file: Annotated[Path, output_file("Animation (.gif, .apng, .webp) or strip (.png)")],
    options: ConditionOptions,
    larger: Annotated[
        bool, flag("--larger", "Also show a grid with sides four times as long, next to it")
    ] = False,
    every: Annotated[int, number("Show every Nth step", 1)] = 1,
    at: Annotated[
        str | None,
        option("STEPS", "Show only these steps, such as 0,5,10-12", shown="all; six in a strip"),
    ] = None,
    channels: Annotated[
        str | None,
        option(
            "LIST",
            "Channels to show: up to three as colours, any number with --sheet",
            shown="the visible ones",
        ),
    ] = None,
    sheet: Annotated[
        bool, flag("--sheet", "Draw each channel separately, hidden ones too")
    ] = False,
    scale: Annotated[
        int | None, number("Pixels per cell", 1, 4096, shown="about 256 pixels in all")
    ] = None,
    fps: Annotated[float, option("N", "Frames per second", min=0.1, max=50)] = 10,
    force: Force = False,
) -> None:
    """Draw a rollout as an animation or a strip of frames.

    Cells are exact squares, colours are few, and files are small. The bits are the same as those of
    dct simulate with the same options. The frame after a damaged step shows the damage.

    Try: dct render last -o growth.gif --steps 60 --damage 30:4,4,8x8 --larger
    """
    from difflogic.library.rendering import render as draw

    with show_progress() as progress:
        found = draw(
            source,
            file,
            options.conditions,
            larger=larger,
            every=every,
            at=() if at is None else parse_ranges("--at", at),
            channels=() if channels is None else parse_ranges("--channels", channels),
            sheet=sheet,
            scale=scale,
            frames_per_second=fps,
            force=force,
            progress=progress,
        )
    note(
        f"saved {found.file}: {counted(len(found.steps), 'frame')} of "
        f"{found.height}×{found.width} pixels, "
        f"{found.bytes / 1000:.1f} kB"
    )


def report(
    sources: Sources,
    file: Annotated[Path, output_file("File to write", "FILE.html")] = Path("report.html"),
    effort: Effort = "normal",
    time_limit: TimeLimit = None,
    without_tests: Annotated[bool, flag("--without-tests", "Skip the tests of dct eval")] = False,
    force: Force = False,
    allow_code: AllowCode = False,
) -> None:
    """Write one web page about a run. It needs no server and no network.

    The automaton runs in the page, as WebAssembly: play it, damage it, and watch it heal. The page
    also shows the circuit, learning curves, the tests of dct eval, equations and the configuration.
    The report of a model or a circuit file shows whatever the file contains. Several sources make a
    gallery, in which each automaton grows, is damaged, and heals.
    """
    from difflogic.library import reporting
    from difflogic.library.common import require_output

    require_output(file, reporting.SUFFIXES, force)
    if len(sources) == 1 and not without_tests:
        announce_hard()
    with show_progress() as progress:
        if len(sources) > 1:
            page = reporting.gallery(
                sources,
                file,
                effort=effort,
                force=force,
                time_limit=time_limit,
                progress=progress,
                allow_code=allow_code,
            )
        else:
            page = reporting.report(
                sources[0],
                file,
                effort=effort,
                tests=not without_tests,
                force=force,
                time_limit=time_limit,
                progress=progress,
                allow_code=allow_code,
            ).page
    note(f"saved {file}: {len(page.encode()) / 1000:.0f} kB, opens in any browser")


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

    Serves the page on this machine only and prints its link; Ctrl-C stops it. The page cannot
    change the run. A run saves its state about every ten seconds, and the page shows what was saved
    last. The page of dct train --watch is updated every second.
    """
    from difflogic.library.serving import watch as serve

    with serve(source, port) as server:
        typer.echo(server.link)
        note("open the link in a browser on this machine; Ctrl-C stops serving, not the run")
        while True:
            server.feed.pause(0.5)
