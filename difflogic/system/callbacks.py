"""How long computations report progress and are cancelled.

A compiled kernel ignores signals. A long computation therefore calls kernels for a bounded amount
of work at a time, and calls `pause` before each call, including the first. A listener can report
progress there, or raise an exception to cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import NamedTuple


def ignore(*news: object) -> None:
    """Ignore progress: a default for callbacks."""


def never_stop() -> bool:
    """Never cancel: a default for callbacks."""
    return False


class Pause(NamedTuple):
    """Progress of a long computation."""

    what: str
    done: int
    total: int
    unit: str = "automaton steps"


Listener = Callable[[Pause], object]

HALF_DONE: list[Callable[[], object]] = []
"""Call them before ending the process abruptly, the last one first."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within this context, call `listener` at every pause of this thread.

    If the listener raises, the computation ends there. It leaves its arguments as they were, or
    they must be discarded.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def checking(check: Callable[[], object]) -> AbstractContextManager[None]:
    """Within this context, also call `check` at every pause of this thread; it may raise."""
    outer = _listener.get() or ignore
    return listening(lambda news: (check(), outer(news)))


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
    """Let the listener cancel here; there is no progress to report."""
    pause("", 1, 1)


def pause(what: str, done: int, total: int, unit: str = "automaton steps") -> None:
    """Tell the listener, if there is one, how far the computation is."""
    listener = _listener.get()
    if listener is not None:
        listener(Pause(what, done, total, unit))
