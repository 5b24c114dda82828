"""Time limits of searches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from difflogic.system.errors import OutOfTimeError


def never_stop() -> bool:
    """Never stop: a default for callbacks."""
    return False


@dataclass(frozen=True)
class Deadline:
    """A time after which a search gives up and leaves its question undecided."""

    at: float
    """In seconds of `time.monotonic`."""
    should_stop: Callable[[], bool] = never_stop
    """Makes it pass earlier, once it returns True."""

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return one that passes after some seconds; None for never."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at or self.should_stop()

    @property
    def left(self) -> float:
        """Seconds until it passes, 0 if it has."""
        return 0.0 if self.passed else max(0.0, self.at - time.monotonic())

    def require(self, aim: str) -> None:
        """Raise OutOfTimeError if it has passed before the aim was reached."""
        if self.passed:
            limit = f"the time limit passed before {aim}: raise --time-limit"
            raise OutOfTimeError("stopped" if self.should_stop() else limit)

    def check(self) -> None:
        """Raise OutOfTimeError if it has passed."""
        if self.passed:
            raise OutOfTimeError


GATES_AT_ONCE = 4096
"""Gates to process between two looks at the clock, if each takes microseconds."""

NEVER = Deadline(float("inf"))
