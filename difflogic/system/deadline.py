"""Time limits of searches."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A time after which a search gives up and leaves its question undecided."""

    at: float
    """In seconds of `time.monotonic`."""

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
"""Gates to process between two looks at the clock, if each takes microseconds."""

NEVER = Deadline(float("inf"))
