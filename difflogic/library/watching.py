"""How what takes a while says how far it is, and is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from difflogic.system.errors import StoppedError


@dataclass(frozen=True)
class Progress:
    """How far a part of the work has come."""

    what: str
    """What is counted, as in "outputs proved"."""
    done: int
    total: int | None = None
    """None where nobody knows."""
    remark: str = ""
    """What comes next, or came last."""


Watch = Callable[[Progress], None]
ShouldStop = Callable[[], bool]
Say = Callable[[str], None]
"""Hears what a person should know, a line at a time."""


def unwatched(progress: Progress) -> None:
    """Look away."""


def never() -> bool:
    """Do not stop."""
    return False


def unheard(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Watched:
    """Work that is watched, and may be stopped."""

    progress: Watch = unwatched
    should_stop: ShouldStop = never

    def update(self, what: str, done: int, total: int | None = None, remark: str = "") -> None:
        """Say how far a part has come. Raises StoppedError where the work shall end."""
        self.progress(Progress(what, done, total, remark))
        if self.should_stop():
            raise StoppedError("stopped")

    def counting(self, what: str, total: int | None = None) -> Callable[[int], None]:
        """Return a function that is to be called with what is done of a part, now none."""
        self.update(what, 0, total)
        return lambda done: self.update(what, done, total)
