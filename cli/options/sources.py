"""The circuits that commands are given: a run's directory, a model file, or a circuit's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SOURCE = typer.Argument(
    metavar="RUN|MODEL|CIRCUIT",
    help='A run\'s directory, the "last" one, a model file, or a circuit exported as JSON.',
)
Source = Annotated[Path, SOURCE]
