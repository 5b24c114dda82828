"""One row of numbers per epoch, and their file, metrics.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from difflogic.training.phases import PHASES

COLUMNS = ("epoch", "soft_loss", "hard_loss", "accuracy", *(f"{phase}_seconds" for phase in PHASES))


MAX_LINE_BYTES = 2**10
"""A row has 14 numbers of up to 25 signs."""


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


class History:
    """The rows of a run so far, each turned into text once."""

    def __init__(self, rows: Iterable[MetricsRow] = ()) -> None:
        self.rows: list[MetricsRow] = []
        self._lines = [_line(COLUMNS)]
        self.best: MetricsRow | None = None
        """The first row of the lowest hard loss."""
        self.last_hard: MetricsRow | None = None
        """The last row with a hard evaluation."""
        for row in rows:
            self.add(row)

    def __iter__(self) -> Iterator[MetricsRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, row: MetricsRow) -> None:
        """Append the row of the next epoch."""
        self.rows.append(row)
        self._lines.append(_to_line(row))
        if row.hard_loss is not None:
            self.last_hard = row
            if self.best is None or row.hard_loss < (self.best.hard_loss or 0.0):
                self.best = row

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds by phase, over all rows."""
        return {
            phase: sum(row.phase_seconds.get(phase, 0.0) for row in self.rows) for phase in PHASES
        }

    def to_csv(self) -> str:
        """Return the rows as CSV under COLUMNS; floats exactly, as the shortest decimal."""
        return "".join(self._lines)


def to_csv(rows: Iterable[MetricsRow]) -> str:
    """Return the rows as CSV under COLUMNS; floats exactly, as the shortest decimal."""
    return History(rows).to_csv()


def from_csv(file: BinaryIO, epochs: int) -> History:
    """Read the rows of epochs 1 to `epochs` back; what comes after them is left out.

    No more is read than these rows have. Raises ValueError, with what is wrong, if one of them is
    missing or damaged.
    """
    names = _read_line(file)
    history = History()
    for epoch in range(1, epochs + 1):
        values = _read_line(file)
        if not values:
            raise ValueError(f"it ends after epoch {epoch - 1}")
        try:
            row = _from_cells(dict(zip(names, values, strict=True)))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"the row of epoch {epoch} is damaged") from None
        if row.epoch != epoch:
            raise ValueError(f"epoch {row.epoch} stands where epoch {epoch} should")
        history.add(row)
    return history


def _read_line(file: BinaryIO) -> list[str]:
    line = file.readline(MAX_LINE_BYTES)
    if line and not line.endswith(b"\n"):
        raise ValueError("a line of it is cut off, or longer than any")
    return line.decode().rstrip("\r\n").split(",") if line else []


def _from_cells(cells: Mapping[str, str]) -> MetricsRow:
    def number(name: str) -> float | None:
        return float(cells[name]) if cells[name] else None

    seconds = {phase: float(cells[f"{phase}_seconds"]) for phase in PHASES}
    soft_loss = float(cells["soft_loss"])
    return MetricsRow(
        int(cells["epoch"]), soft_loss, number("hard_loss"), number("accuracy"), seconds
    )


def _to_line(row: MetricsRow) -> str:
    scores = [row.soft_loss, row.hard_loss, row.accuracy]
    seconds = [row.phase_seconds.get(phase, 0.0) for phase in PHASES]
    return _line([str(int(row.epoch)), *map(_cell, scores), *map(_cell, seconds)])


def _line(cells: Iterable[str]) -> str:
    return ",".join(cells) + "\n"


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))
