"""What workers did: how much, for whom, and how long they waited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from difflogic.engine.kernels.teams import BEGAN, BUSY, STEALS, TASKS, WAITED, WAITING, WAITS


@dataclass(frozen=True)
class WorkStats:
    """What one worker has done, or several together."""

    tasks: int = 0
    """Pieces of work taken: whole groups of samples, or one automaton step of a chunk of cells."""
    steals: int = 0
    """Of these, those taken from another worker's share."""
    waits: int = 0
    """Times that it had to wait for another worker, at a barrier or for cells around its own."""
    seconds_waited: float = 0.0
    """Seconds that it waited, by the clock; of several workers, added up."""

    @classmethod
    def of(cls, cursor: npt.NDArray[np.int64]) -> WorkStats:
        """Read the counts that a worker's kernel keeps in its cursor."""
        tasks, steals, waits, waited = (int(cursor[k]) for k in (TASKS, STEALS, WAITS, WAITED))
        return cls(tasks, steals, waits, waited / 1e9)

    def __add__(self, other: WorkStats) -> WorkStats:
        return WorkStats(*(x + y for x, y in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, before: WorkStats) -> WorkStats:
        """Return what was done between two readings of the same counts."""
        return WorkStats(*(x - y for x, y in zip(astuple(self), astuple(before), strict=True)))


@dataclass(frozen=True)
class WorkerPhases:
    """Seconds of one worker by phase: "forward", "loss" and "backward"."""

    busy: dict[str, float]
    waiting: dict[str, float]
    """For other workers, before it woke and after it was done too."""

    @classmethod
    def of(cls, clock: npt.NDArray[np.float64]) -> WorkerPhases:
        """Read what a worker's kernel keeps in its clock."""
        names = ("forward", "loss", "backward")
        busy, waiting = clock[BUSY:WAITING].tolist(), clock[WAITING:BEGAN].tolist()
        return cls(dict(zip(names, busy, strict=True)), dict(zip(names, waiting, strict=True)))


def sum_of(stats: Iterable[WorkStats]) -> WorkStats:
    """Add up what several workers have done."""
    return sum(stats, WorkStats())
