"""What training measures: seconds by phase, and the result of a step."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from difflogic.system.array_types import Bits

if TYPE_CHECKING:
    from difflogic.search.finisher import Finished

PHASES = (
    "sample",
    "forward",
    "loss",
    "backward",
    "waiting",
    "reduce",
    "optimizer",
    "hard",
    "finish",
    "checkpoint",
    "other",
)
"""In the order of a training step. All workers share forward, loss and backward: their seconds are
means over workers, by the processor clock of each. "waiting" is the mean time that workers wait for
each other or for a core. One thread does the rest, by wall time. "other" is what the others leave
of the wall time: waking workers, rewiring, the caller's work between steps."""

PARTS_OUTSIDE = ("start", "compilation", "tests")
"""Parts of a run outside of the phases: until the first step, compiling, and final tests."""
TOTALS = ("all", "processor")
"""Wall time and processor time of a whole run."""


Clocks = tuple[float, float]
"""Readings for TOTALS, as `clocks` returns them."""


def clocks() -> Clocks:
    """Return wall time, and processor time of this process and of its children that ended."""
    times = os.times()
    children = times.children_user + times.children_system
    return time.perf_counter(), time.process_time() + children


class PhaseTimer:
    """Adds up seconds by phase, those around the steps, and a run's totals over all stretches."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.around = dict.fromkeys(PARTS_OUTSIDE, 0.0)
        self.began = clocks()
        """When this stretch of the run began."""
        self.timed = 0.0
        """Seconds of this stretch that are in some part."""
        self._earlier = dict.fromkeys(TOTALS, 0.0)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add seconds by part that were measured elsewhere."""
        for part, spent in seconds.items():
            (self.seconds if part in self.seconds else self.around)[part] += spent
            self.timed += spent

    def __call__(self, part: str) -> _Block:
        """Time a block as `part`, one of PHASES or PARTS_OUTSIDE, without the parts inside it."""
        return _Block(self, part)

    @property
    def account(self) -> dict[str, float]:
        """Seconds of the run so far by PHASES, PARTS_OUTSIDE and TOTALS."""
        passed = zip(TOTALS, clocks(), self.began, strict=True)
        totals = {name: now - began + self._earlier[name] for name, now, began in passed}
        return {**self.seconds, **self.around, **totals}

    def restore(self, account: Mapping[str, float]) -> None:
        """Continue the `account` of earlier stretches; what it lacks counts as 0."""
        for part in (self.seconds, self.around, self._earlier):
            part.update({name: account.get(name, 0.0) for name in part})


class _Block:
    """A timed block of code; a class, since contextlib's generators take twice as long."""

    __slots__ = "_before", "_part", "_start", "_timer"

    def __init__(self, timer: PhaseTimer, part: str) -> None:
        self._timer = timer
        self._part = part

    def __enter__(self) -> None:
        self._before, self._start = self._timer.timed, time.perf_counter()

    def __exit__(self, *raised: Any) -> None:
        inside = self._timer.timed - self._before
        self._timer.add({self._part: time.perf_counter() - self._start - inside})


@dataclass(frozen=True)
class StepResult:
    """What one epoch (one optimizer step) measured, before its update."""

    epoch: int
    """Number of finished epochs, from 1."""
    soft_loss: float
    """Sum of squared errors over batch, cells and loss channels, or the task's own loss."""
    hard_loss: float | None
    """Sum of squared errors of the hard circuit; None except on the first rank."""
    accuracy: float | None
    """Share of right cells of the hard circuit, 0 to 1; None like `hard_loss`."""
    hard_state: Bits | None = field(repr=False)
    """Last hard state of the first sample, (channels, height, width); None like `hard_loss`."""
    decided: float | None = None
    """Share of decided gates, 0 to 1: one op has a probability above `gates.DECIDED`."""
    finished: Finished | None = None
    """The result of a search after this epoch, if there was one."""
    attempt: int = 1
    """The attempt of this epoch, from 1."""
    stage: int = 1
    """The task's stage in this epoch, from 1."""
