"""`dct plot`: figures of runs and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.terminal.warming import announce_hard


def plot(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|MODEL|SWEEP",
            help="A run's directory, the \"last\" one, a model file, or a sweep's directory.",
        ),
    ],
    file: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it: .svg, .png, .pdf."),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Draw how a run or a sweep learned. Needs matplotlib: pip install '.[plot]'.

    Of a run: soft and hard loss, accuracy, seconds by phase, how decided gates are, and ops of
    perception and update, with the published numbers. Of a sweep: exact by epoch over seeds with
    intervals, and gates against epochs.
    """
    from difflogic.library.plotting import plot as draw
    from difflogic.library.plotting import require_figure
    from difflogic.view.plotting.style import require_matplotlib

    require_figure(file, force)
    require_matplotlib()
    announce_hard()
    found = draw(source, file, force=force)
    note(f"saved {found.file}: a {found.what}, {found.bytes / 1000:.0f} kB")
