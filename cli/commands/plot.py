"""`dct plot`: draws the learning curves of runs and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.common import Force, option
from cli.terminal.warming import announce_hard


def plot(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|MODEL|SWEEP",
            help='Run directory ("last" for the newest), model file, or sweep directory',
        ),
    ],
    file: Annotated[Path, option("FILE", "File to write: .svg, .png or .pdf", "--output", "-o")],
    force: Force = False,
) -> None:
    """Plot the learning curves of a run or a sweep. Needs matplotlib: pip install '.[plot]'.

    A run's figure shows soft and hard loss, accuracy, seconds by phase, how decided the gates are,
    and the ops of perception and update, with the published numbers. A sweep's figure shows the
    share of seeds that are exact by epoch, with intervals, and gates against epochs.
    """
    from difflogic.library.common import require_output
    from difflogic.library.reporting import plot as draw
    from difflogic.view.plotting.style import SUFFIXES, require_matplotlib

    require_output(file, SUFFIXES, force)
    require_matplotlib()
    announce_hard()
    found = draw(source, file, force=force)
    note(f"saved {found.file}: a {found.what}, {found.bytes / 1000:.0f} kB")
