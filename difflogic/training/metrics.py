"""One row of numbers per epoch, and their file, metrics.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from difflogic.training.phases import PHASES

COLUMNS = ("epoch", "soft_loss", "hard_loss", "accuracy", *(f"{phase}_seconds" for phase in PHASES))


@dataclass(frozen=True)
class MetricsRow:
    """What one epoch measured; None where it made no hard evaluation."""

    epoch: int
    """Count of finished epochs, from 1."""
    soft_loss: float
    """Sum of squared errors over batch, cells and loss channels."""
    hard_loss: float | None = None
    """The same of the hard circuit."""
    accuracy: float | None = None
    """Share of right cells of the hard circuit, 0 to 1."""
    phase_seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase; a phase that is not named took none."""


def to_csv(rows: Iterable[MetricsRow]) -> str:
    """Return the rows as CSV under COLUMNS; floats exactly, as the shortest decimal."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        scores = [row.soft_loss, row.hard_loss, row.accuracy]
        seconds = [row.phase_seconds.get(phase, 0.0) for phase in PHASES]
        writer.writerow([int(row.epoch), *map(_cell, scores), *map(_cell, seconds)])
    return text.getvalue()


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))
