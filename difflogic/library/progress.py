"""How long work reports progress, and how a caller cancels it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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
"""Is called again and again; whatever it raises cancels the work."""
ShouldStop = Callable[[], bool]
"""Asks work that keeps what it has so far whether to stop."""
MessageCallback = Callable[[str], None]
"""Receives what a person should know, a line at a time."""


def counter(
    progress: ProgressCallback, what: str, total: int | None = None
) -> Callable[[int], None]:
    """Begin a part at 0; return a function to call with the number done."""
    progress(Progress(what, 0, total))
    return lambda done: progress(Progress(what, done, total))
