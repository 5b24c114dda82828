"""Input of a report: an automaton and, if known, its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from difflogic.circuit.automaton import Automaton
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow, read_metrics
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import Summary, read_summary
from difflogic.system.array_types import Bits
from difflogic.system.work import say


@dataclass(frozen=True)
class ReportSource:
    """An automaton and, if known, its training."""

    automaton: Automaton
    """As trained, with every gate, or as in its file."""
    model: Model | None = None
    rows: Sequence[MetricsRow] = ()
    """The epochs that are recorded."""
    summary: Summary | None = None
    painted: Bits | None = None
    """The part that each cell shows at first, shape (rows, columns)."""
    exact_epoch: int | None = None
    """The epoch after which a circuit was verified exact."""


def read_training(directory: Path) -> tuple[tuple[MetricsRow, ...], Summary | None]:
    """Return the rows of a run's metrics, and its summary, if they are there.

    Of damaged metrics, these are the rows before the damage, which is told. Raises
    RunDirectoryError for a damaged summary, and UnreadableError.
    """
    run = RunDirectory(directory)
    history, problem = read_metrics(run)
    if problem is not None and run.metrics.exists():
        say(f"warning: {problem}: what follows is not shown")
    return tuple(history), read_summary(run)
