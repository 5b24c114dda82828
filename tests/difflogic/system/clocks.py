"""Clocks for tests of time limits, independent of the machine's speed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from difflogic.system.deadline import Deadline


@dataclass(frozen=True)
class Clock(Deadline):
    """Passes after a number of looks at it, and measures the work between two looks."""

    at: float = 0.0
    most: float = float("inf")
    """Number of looks until it has passed."""
    seen: dict[str, float] = field(default_factory=lambda: {"looks": 0, "gap": 0.0})

    @property
    def passed(self) -> bool:
        now = time.thread_time()  # only this thread's work: others may use the processor
        self.seen["gap"] = max(self.seen["gap"], now - self.seen.get("last", now))
        self.seen["last"] = now
        self.seen["looks"] += 1
        return self.seen["looks"] > self.most

    @property
    def looks(self) -> float:
        return self.seen["looks"]

    @property
    def gap(self) -> float:
        """The longest work between two looks, in seconds."""
        return self.seen["gap"]
