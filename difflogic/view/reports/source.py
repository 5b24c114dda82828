"""Input of a report: an automaton and, if known, its training."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow, from_csv
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary
from difflogic.system.array_types import Bits
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import read_inside

MOST_METRICS_BYTES = 2**28


@dataclass(frozen=True)
class ReportSource:
    """An automaton and, if known, its training."""

    automaton: Automaton
    """As trained, with every gate, or as in its file."""
    model: Model | None = None
    rows: Sequence[MetricsRow] = ()
    """The epochs that are recorded."""
    summary: dict[str, Any] | None = None
    painted: Bits | None = None
    """The part that each cell shows at first, shape (rows, columns)."""
    exact_epoch: int | None = None
    """The epoch after which a circuit was verified exact."""


def read_training(directory: Path) -> tuple[tuple[MetricsRow, ...], dict[str, Any] | None]:
    """Return all complete rows of a run's metrics, and its summary, if they are there.

    Raises RunDirectoryError for metrics that are damaged or cannot be read.
    """
    run = RunDirectory(directory)
    return _rows(run.metrics), read_summary(run)


def _rows(path: Path) -> tuple[MetricsRow, ...]:
    try:
        content = read_inside(path, MOST_METRICS_BYTES)
    except FileNotFoundError:
        return ()
    # Text after the last line's end is a row that is still being written.
    rows = max(0, content.count(b"\n") - 1)
    try:
        return tuple(from_csv(io.BytesIO(content), rows)) if rows else ()
    except ValueError as error:
        raise RunDirectoryError(f"{path}: is damaged: {error}") from None
