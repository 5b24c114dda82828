"""Where a sweep stands, for who watches it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from difflogic.scale.sweeps.execution import Execution, epochs_to_do
from difflogic.scale.sweeps.question import Question, Variant
from difflogic.scale.sweeps.results import VariantResult, aggregate


@dataclass(frozen=True)
class Running:
    """A run at work."""

    variant: Variant
    seed: int
    epoch: int

    @property
    def epochs(self) -> int:
        """Epochs that it is to have, at most."""
        return self.variant.config.training.epochs


@dataclass(frozen=True)
class Snapshot:
    """A sweep at one moment."""

    runs: int
    ended: int
    """Runs that have ended, those of earlier times and failed ones included."""
    failed: int
    running: tuple[Running, ...]
    """As far as they can be seen: what a cluster without a shared file system does is not."""
    variants: tuple[VariantResult, ...]
    seconds: float
    """Since this stretch began."""
    seconds_left: float | None
    """If no run ends early; None before there is anything to judge by."""


class Progress:
    """Takes snapshots of an execution, and estimates how long it will take."""

    def __init__(self, question: Question, execution: Execution) -> None:
        self.question, self.execution = question, execution
        self._started = time.monotonic()
        self._to_do = epochs_to_do(question, execution.rows)

    def snapshot(self) -> Snapshot:
        rows = self.execution.rows
        running = tuple(Running(*run) for run in self.execution.running())
        seconds = time.monotonic() - self._started
        left = epochs_to_do(self.question, rows) - sum(run.epoch for run in running)
        # An early end counts as work done: the estimate learns how much of it there is.
        done = self._to_do - left
        variants = tuple(aggregate(self.question, rows))
        return Snapshot(
            runs=len(rows),
            ended=sum(row.status != "missing" for row in rows),
            failed=sum(result.failed for result in variants),
            running=running,
            variants=variants,
            seconds=seconds,
            seconds_left=seconds * left / done if done > 0 else None,
        )
