"""How long computations say how far they are, and how they are stopped.

A compiled kernel ignores signals. A long computation therefore calls kernels for a bounded amount
of work at a time, and calls `heartbeat` before each call, including the first. The `Work` of its
thread hears of that, and raises `Stopped` if a signal, the end of a sweep or a caller asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from difflogic.system.deadline import never_stop


def ignore(*news: object) -> None:
    """Ignore progress: a default for callbacks."""


class Stopped(KeyboardInterrupt):
    """The work was asked to stop, and did, between two parts of it.

    Like Ctrl-C, it is no `Exception`: what handles errors lets it pass.
    """


class Heartbeat(NamedTuple):
    """Progress of a long computation."""

    what: str
    done: int
    total: int
    unit: str = "automaton steps"


@dataclass(frozen=True)
class Progress:
    """Progress of one part of the work, as a user sees it."""

    what: str
    """What is counted, as in "outputs proved"."""
    done: int
    total: int | None = None
    """None if unknown."""
    remark: str = ""
    """What comes next, or came last."""


@dataclass(frozen=True)
class Work:
    """Who may stop the work of a thread, and who hears how far it is."""

    asked: Callable[[], bool] = never_stop
    """Whether to stop; asked at every heartbeat."""
    hear: Callable[[Heartbeat], object] = ignore
    """Hears of every heartbeat, and may raise to stop."""
    tell: Callable[[Progress], object] = ignore
    """Hears of each part that a user sees, and may raise to stop."""
    say: Callable[[str], object] = ignore
    """Gets messages for the user, some of several lines."""


HALF_DONE: list[Callable[[], object]] = []
"""Call them before ending the process abruptly, the last one first."""

_work: ContextVar[Work] = ContextVar("work")
_NOTHING = Work()


def work() -> Work:
    """Return the work of this thread."""
    return _work.get(_NOTHING)


def stopped() -> bool:
    """Return whether the work of this thread is asked to stop."""
    return work().asked()


@contextmanager
def working(**changes: Callable[..., Any]) -> Iterator[None]:
    """Within this context, the work of this thread has other fields.

    A computation that is stopped leaves its arguments as they were, or they must be discarded.
    """
    token = _work.set(replace(work(), **changes))
    try:
        yield
    finally:
        _work.reset(token)


def tell(what: str, done: int = 0, total: int | None = None, remark: str = "") -> None:
    """Say how far a part of the work is that a user sees. Raises Stopped if it is asked to stop."""
    work().tell(Progress(what, done, total, remark))
    if stopped():
        raise Stopped


def say(message: str) -> None:
    """Give a message to the user."""
    work().say(message)


def ticking(what: str) -> AbstractContextManager[None]:
    """Within this context, tell at every heartbeat of this thread how many there were."""
    numbers = count(1)
    return checking(lambda: tell(what, next(numbers)))


def checking(check: Callable[[], object]) -> AbstractContextManager[None]:
    """Within this context, also call `check` at every heartbeat of this thread; it may raise."""
    outer = work().hear
    return working(hear=lambda news: (check(), outer(news)))


@contextmanager
def undoing(undo: Callable[[], object]) -> Iterator[None]:
    """While entered, `undo` is in HALF_DONE.

    It replaces the clean-up by an exception, which a compiler or a kernel may not let through.
    """
    HALF_DONE.append(undo)
    try:
        yield
    finally:
        HALF_DONE.remove(undo)


def may_cancel() -> None:
    """Stop here if that is asked; there is no progress to report."""
    heartbeat("", 1, 1)


def heartbeat(what: str, done: int, total: int, unit: str = "automaton steps") -> None:
    """Say how far the computation is. Raises Stopped if it is asked to stop.

    It does not at the beginning: what takes one call of a kernel is finished.
    """
    work().hear(Heartbeat(what, done, total, unit))
    if done and stopped():
        raise Stopped
