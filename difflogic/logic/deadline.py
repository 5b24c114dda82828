"""When a search has to end."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A point in time after which questions stay undecided."""

    at: float
    """Of `time.monotonic`."""

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at


NEVER = Deadline(float("inf"))
