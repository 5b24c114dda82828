"""One row of numbers per epoch, and their file, metrics.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from difflogic.training.phases import PHASES

SEARCHED = (
    "search_wrong_before",
    "search_wrong",
    "search_wrong_fresh",
    "search_candidates",
    "search_exact",
)
COLUMNS = (
    "epoch",
    "soft_loss",
    "hard_loss",
    "accuracy",
    *(f"{phase}_seconds" for phase in PHASES),
    "decided",
    *SEARCHED,
    "attempt",
)
"""The columns of metrics.csv."""

MAX_LINE_BYTES = 2**10
"""A row has 22 numbers of up to 25 characters."""

MOST_COUNTED = 2**53


@dataclass(frozen=True)
class Search:
    """The result of a search for an exact circuit, after an epoch; see `Finished`."""

    wrong_before: int
    wrong: int
    wrong_fresh: int
    candidates: int
    exact: bool


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
    decided: float | None = None
    """Share of gates, 0 to 1, with an op of a probability above `gates.DECIDED`."""
    search: Search | None = None
    """The result of a search after this epoch; None if there was none."""
    attempt: int | None = None
    """The attempt that it belongs to, from 1; None if that is not recorded."""

    @property
    def searched(self) -> bool:
        """Whether there was a search after this epoch, even if its result is not recorded."""
        return self.search is not None or self.phase_seconds.get("finish", 0.0) > 0


class Restart(NamedTuple):
    """Learning that started over, with another wiring."""

    epoch: int
    """After which it did."""
    attempt: int
    """The attempt that began, from 2."""


def restarts(rows: Iterable[MetricsRow]) -> list[Restart]:
    """Return where learning started over within `rows`."""
    return [
        Restart(last.epoch, row.attempt)
        for last, row in pairwise(rows)
        if row.attempt is not None and last.attempt not in (None, row.attempt)
    ]


class History:
    """The rows of a run so far, each turned into text once."""

    def __init__(self, rows: Iterable[MetricsRow] = ()) -> None:
        self.rows: list[MetricsRow] = []
        self._lines = [_line(COLUMNS)]
        self.best: MetricsRow | None = None
        """The first row of the lowest hard loss."""
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
        best = self.best.hard_loss if self.best is not None else None
        if row.hard_loss is not None and (best is None or row.hard_loss < best):
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


def from_csv(file: BinaryIO, epochs: int) -> History:
    """Read the rows of epochs 1 to `epochs`, and no more of the file.

    Raises ValueError, with what is wrong, if one is missing or damaged.
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
    decided = number("decided")
    if decided is not None and not 0 <= decided <= 1:
        raise ValueError("a share is from 0 to 1")
    attempt = int(cells["attempt"]) if cells["attempt"] else None
    if attempt is not None and not 1 <= attempt <= MOST_COUNTED:
        raise ValueError("attempts are counted from 1")
    return MetricsRow(
        int(cells["epoch"]),
        float(cells["soft_loss"]),
        number("hard_loss"),
        number("accuracy"),
        seconds,
        decided,
        _search_from(cells),
        attempt,
    )


def _search_from(cells: Mapping[str, str]) -> Search | None:
    if not cells[SEARCHED[0]]:
        return None
    before, wrong, fresh, candidates, exact = (int(cells[name]) for name in SEARCHED)
    counts = before, wrong, fresh, candidates
    if not all(0 <= count <= MOST_COUNTED for count in counts) or exact not in (0, 1):
        raise ValueError("a count is negative or too large")
    return Search(before, wrong, fresh, candidates, exact == 1)


def _to_line(row: MetricsRow) -> str:
    scores = [row.soft_loss, row.hard_loss, row.accuracy]
    seconds = [row.phase_seconds.get(phase, 0.0) for phase in PHASES]
    found = row.search
    searched = [""] * len(SEARCHED) if found is None else [str(int(n)) for n in astuple(found)]
    attempt = "" if row.attempt is None else str(row.attempt)
    numbers = map(_cell, [*scores, *seconds, row.decided])
    return _line([str(int(row.epoch)), *numbers, *searched, attempt])


def _line(cells: Iterable[str]) -> str:
    return ",".join(cells) + "\n"


def _cell(value: float | None) -> str:
    return "" if value is None else repr(float(value))
