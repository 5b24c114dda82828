"""metrics.csv: a row of numbers for each epoch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields
from itertools import pairwise
from typing import BinaryIO

from difflogic.run.measures import PHASES, StepResult
from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import UnreadableError
from difflogic.system.files import cannot_read, open_plain

MAX_LINE_BYTES = 2**10
"""A row has 23 numbers of up to 25 characters."""

MAX_METRICS_BYTES = 2**30
"""More than the metrics of a million epochs."""

MAX_COUNT = 2**53


@dataclass(frozen=True)
class Search:
    """The result of a search for an exact circuit; see `Finished`."""

    wrong_before: int
    wrong: int
    wrong_fresh: int
    candidates: int
    exact: bool


SEARCHED = tuple(f"search_{each.name}" for each in fields(Search))
_COUNTS = (*SEARCHED, "attempt", "stage")
COLUMNS = (
    "epoch",
    "soft_loss",
    "hard_loss",
    "accuracy",
    *(f"{phase}_seconds" for phase in PHASES),
    "decided",
    *_COUNTS,
)
"""The columns of metrics.csv."""


@dataclass(frozen=True)
class MetricsRow:
    """The numbers of one epoch, as in `StepResult`. None means not measured, or not recorded."""

    epoch: int
    soft_loss: float
    hard_loss: float | None = None
    accuracy: float | None = None
    phase_seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase; a missing phase took none."""
    decided: float | None = None
    search: Search | None = None
    attempt: int = 1
    stage: int = 1

    @classmethod
    def of(cls, result: StepResult, seconds: Mapping[str, float]) -> MetricsRow:
        """Return the row of a step that took `seconds`, by phase."""
        search = None
        if result.finished:
            search = Search(*(getattr(result.finished, each.name) for each in fields(Search)))
        return cls(
            result.epoch,
            result.soft_loss,
            result.hard_loss,
            result.accuracy,
            seconds,
            result.decided,
            search,
            result.attempt,
            result.stage,
        )

    @property
    def searched(self) -> bool:
        """Whether a search followed this epoch, even if its result is not recorded."""
        return self.phase_seconds.get("finish", 0.0) > 0


def restarts(rows: Iterable[MetricsRow]) -> list[int]:
    """Return the last epoch before each new attempt within `rows`."""
    return [last.epoch for last, row in pairwise(rows) if last.attempt != row.attempt]


class History:
    """The rows of a run so far. Each is turned into text only once."""

    def __init__(self, rows: Iterable[MetricsRow] = ()) -> None:
        self.rows: list[MetricsRow] = []
        self._lines = [_line(COLUMNS)]
        for row in rows:
            self.add(row)

    def __iter__(self) -> Iterator[MetricsRow]:
        return iter(self.rows)

    @property
    def epoch(self) -> int:
        """The last epoch; 0 before the first."""
        return self.rows[-1].epoch if self.rows else 0

    def add(self, row: MetricsRow) -> None:
        """Append the row of the next epoch."""
        self.rows.append(row)
        self._lines.append(_to_line(row))

    def best(self, attempt: int) -> MetricsRow | None:
        """Return the first row with the lowest hard loss in the last stage of an attempt."""
        rows = [row for row in self.rows if row.attempt == attempt]
        last = [row for row in rows if row.hard_loss is not None and row.stage == rows[-1].stage]
        return min(last, key=lambda row: row.hard_loss or 0.0, default=None)

    def to_csv(self) -> str:
        """Return the rows as CSV under COLUMNS. Floats are exact, as the shortest decimal."""
        return "".join(self._lines)

    @property
    def digest(self) -> str:
        """What tells the history of one run from another's: a checksum of all losses."""
        text = "\n".join(f"{row.soft_loss} {row.hard_loss}" for row in self.rows)
        return hashlib.sha256(text.encode()).hexdigest()


def read_metrics(run: RunDirectory, epochs: int | None = None) -> tuple[History, str | None]:
    """Return the rows of metrics.csv up to an epoch, and what is wrong with it, if anything.

    These are the rows before the first damaged one, and none of a file that is missing. Raises
    UnreadableError.
    """
    history = History()
    try:
        with open_plain(run.metrics, follow=False) as file:
            if os.fstat(file.fileno()).st_size > MAX_METRICS_BYTES:
                raise ValueError("it is larger than any metrics")
            for row in _rows(file, epochs):
                history.add(row)
    except ValueError as error:
        return history, f"{run.metrics}: is damaged: {error}"
    except OSError as error:
        if isinstance(found := cannot_read(run.metrics, error), UnreadableError):
            raise found from None
        return history, str(found)
    return history, None


def _rows(file: BinaryIO, epochs: int | None) -> Iterator[MetricsRow]:
    """Yield the rows up to an epoch. Raises ValueError, with what is wrong, at a damaged one.

    Some may be missing, where a run went on without a damaged part.
    """
    names = _read_line(file)
    last = 0
    while last != epochs and (values := _read_line(file)):
        try:
            row = _from_cells(dict(zip(names, values, strict=True)))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"the row after epoch {last} is damaged") from None
        if row.epoch <= last:
            raise ValueError(f"epoch {row.epoch} stands after epoch {last}")
        if epochs is not None and row.epoch > epochs:
            raise ValueError(f"epoch {row.epoch} stands where epoch {epochs} should")
        yield row
        last = row.epoch
    if epochs is not None and last < epochs:
        raise ValueError(f"it ends after epoch {last}")


def _read_line(file: BinaryIO) -> list[str]:
    line = file.readline(MAX_LINE_BYTES)
    if line and not line.endswith(b"\n"):
        raise ValueError("a line is cut off or too long")
    return line.decode().rstrip("\r\n").split(",") if line else []


def _from_cells(cells: Mapping[str, str]) -> MetricsRow:
    def number(name: str) -> float | None:
        return float(cells[name]) if cells[name] else None

    counts = {name: int(cells[name]) for name in _COUNTS if cells[name]}
    if not all(0 <= count <= MAX_COUNT for count in counts.values()):
        raise ValueError("a count is negative or too large")
    decided = number("decided")
    attempt = counts.pop("attempt")
    stage = counts.pop("stage")
    if decided is not None and not 0 <= decided <= 1:
        raise ValueError("a share is from 0 to 1")
    if not (attempt and stage) or counts.get(SEARCHED[-1], 0) > 1:
        raise ValueError("attempts and stages are counted from 1, and exact is 0 or 1")
    search = None
    if counts:
        before, wrong, fresh, candidates, exact = (counts[name] for name in SEARCHED)
        search = Search(before, wrong, fresh, candidates, exact == 1)
    return MetricsRow(
        int(cells["epoch"]),
        float(cells["soft_loss"]),
        number("hard_loss"),
        number("accuracy"),
        {phase: float(cells[f"{phase}_seconds"]) for phase in PHASES},
        decided,
        search,
        attempt,
        stage,
    )


def _to_line(row: MetricsRow) -> str:
    scores = [row.soft_loss, row.hard_loss, row.accuracy]
    seconds = [row.phase_seconds.get(phase, 0.0) for phase in PHASES]
    search = row.search
    searched = [""] * len(SEARCHED) if search is None else [str(int(n)) for n in astuple(search)]
    numbers = map(_cell, [*scores, *seconds, row.decided])
    return _line([str(int(row.epoch)), *numbers, *searched, str(row.attempt), str(row.stage)])


def _line(cells: Iterable[str]) -> str:
    return ",".join(cells) + "\n"


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))
