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

    def check(self) -> None:
        """Raise TimeoutError if it has passed."""
        if self.passed:
            raise TimeoutError


GATES_AT_ONCE = 4096
"""Between two looks at the clock, where each takes microseconds."""

NEVER = Deadline(float("inf"))
