"""The circuits that commands are given: a run's directory, a model file, or a circuit's JSON."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

SOURCE = typer.Argument(
    metavar="RUN|MODEL|CIRCUIT",
    help='A run\'s directory, the "last" one, a model file, or a circuit exported as JSON.',
)
Source = Annotated[Path, SOURCE]


class EffortName(StrEnum):
    """How long the search for a smaller circuit goes on."""

    low = "low"
    normal = "normal"
    high = "high"


TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.001,
        max=1e9,
        metavar="SECONDS",
        help="Search and prove for so long; a search that is cut short keeps what it found.",
        show_default="60 for a proof",
    ),
]

ALLOW_CODE = typer.Option(
    "--allow-code", help="Run the code of a task that is not the program's own: read it first."
)
