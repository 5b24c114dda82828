"""`dct render`, `dct report`, `dct watch`: pictures and pages of runs and circuits."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cli.failures import note
from cli.options import TO, SourceOperand, Sources
from cli.progress import show_progress
from difflogic.library.conditions import Conditions
from difflogic.library.groups import Frames
from difflogic.library.painting import Painting
from difflogic.system.declaration import AllowCode, Force, Operand, Opt, Port, TimeLimit
from difflogic.system.quantities import counted


def render(
    source: SourceOperand,
    file: Annotated[Path, TO, Opt("Animation (.gif, .apng) or strip (.png)")],
    conditions: Conditions,
    frames: Frames,
    force: Force = False,
) -> None:
    """Draw a rollout as an animation or a strip of frames.

    Cells are exact squares, colours are few, and files are small. The bits are the same as those of
    dct simulate with the same options. The frame after a damaged step shows the damage.

    Try: dct render last -o growth.gif --steps 60 --damage 30:4,4,8x8
    """
    import difflogic

    with show_progress():
        found = difflogic.render(source, file, conditions, frames, force=force)
    note(
        f"saved {found.file}: {counted(len(found.steps), 'frame')} of "
        f"{found.height}×{found.width} pixels, {found.bytes / 1000:.1f} kB"
    )


def report(
    sources: Sources,
    painting: Painting,
    tests: Annotated[bool, Opt("Skip the tests of dct eval", names="/--without-tests")] = True,
    force: Force = False,
    time_limit: TimeLimit = None,
    allow_code: AllowCode = False,
    file: Annotated[Path, TO, Opt("File to write", "FILE.html")] = Path("report.html"),
) -> None:
    """Write one web page about a run. It needs no server and no network.

    The automaton runs in the page, as WebAssembly: play it, damage it, and watch it heal. The page
    also shows the circuit, learning curves, the tests of dct eval, equations and the configuration.
    The report of a model or a circuit file shows whatever the file contains. Several sources make a
    gallery, in which what stays is damaged, and heals if it can. Brushes repaint the regions of a
    joined circuit.
    """
    import difflogic

    with show_progress():
        found = difflogic.report(
            sources,
            file,
            tests=tests,
            force=force,
            time_limit=time_limit,
            allow_code=allow_code,
            painting=painting,
        )
    note(f"saved {file}: {len(found.page.encode()) / 1000:.0f} kB, opens in any browser")


def watch(
    source: Annotated[Path, Operand('Run directory ("last" for the newest)', "RUN")] = Path("last"),
    port: Port = 0,
) -> None:
    """Show a run in a browser, live or afterwards.

    Serves the page on this machine only and prints its link; Ctrl-C stops it. The page cannot
    change the run. A run saves its state about every ten seconds, and the page shows what was saved
    last. The page of dct train --watch is updated every second.
    """
    import difflogic

    with difflogic.watch(source, port) as server:
        typer.echo(server.link)
        note("open it in a browser here; Ctrl-C stops serving, not the run")
        while True:
            time.sleep(0.5)
