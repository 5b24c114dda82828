"""Clocks to test time limits with, that depend on no machine's speed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from difflogic.system.deadline import Deadline


@dataclass(frozen=True)
class Clock(Deadline):
    """Passes after so many looks at it, and measures the work between two."""

    at: float = 0.0
    most: float = float("inf")
    """Looks after which it has passed."""
    seen: dict[str, float] = field(default_factory=lambda: {"looks": 0, "gap": 0.0})

    @property
    def passed(self) -> bool:
        now = time.thread_time()  # of this thread's own work: others may keep the processor busy
        self.seen["gap"] = max(self.seen["gap"], now - self.seen.get("last", now))
        self.seen["last"] = now
        self.seen["looks"] += 1
        return self.seen["looks"] > self.most

    @property
    def looks(self) -> float:
        return self.seen["looks"]

    @property
    def gap(self) -> float:
        """The most seconds of work between two looks."""
        return self.seen["gap"]
