"""How long work reports progress, and how a caller cancels it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from difflogic.system.callbacks import ignore, never_stop
from difflogic.system.errors import StoppedError


@dataclass(frozen=True)
class Progress:
    """How far a part of the work has come."""

    what: str
    """What is counted, as in "outputs proved"."""
    done: int
    total: int | None = None
    """None if unknown."""
    remark: str = ""
    """What comes next, or came last."""


ProgressCallback = Callable[[Progress], None]
"""May raise, which cancels the work."""
ShouldStop = Callable[[], bool]
MessageCallback = Callable[[str], None]
"""Receives what a person should know, a line at a time."""


@dataclass(frozen=True)
class ProgressReporter:
    """Reports progress to a callback, and cancels the work where it is asked to stop."""

    progress: ProgressCallback = ignore
    should_stop: ShouldStop = never_stop

    def update(self, what: str, done: int, total: int | None = None, remark: str = "") -> None:
        """Report how far a part has come. Raises StoppedError if the work is to stop."""
        self.progress(Progress(what, done, total, remark))
        if self.should_stop():
            raise StoppedError("stopped")

    def counter(self, what: str, total: int | None = None) -> Callable[[int], None]:
        """Begin a part at 0; return a function to call with the number done."""
        self.update(what, 0, total)
        return lambda done: self.update(what, done, total)
