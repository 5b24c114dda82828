"""Where long computations let their caller in: to stop them, or to say how far they are.

A compiled kernel hears no signal. What calls kernels for long calls them for a bounded amount of
work at a time, and `pause` before each call: before the first one nothing is done yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Pause(NamedTuple):
    """How far a long computation is."""

    what: str
    done: int
    total: int
    unit: str = "automaton steps"


Listener = Callable[[Pause], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While entered, call `listener` at every pause of this thread; it may raise to stop there.

    What is stopped leaves no half-done result behind: what it was called on is as before the call,
    or is to be thrown away.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def pause(what: str, done: int, total: int, unit: str = "automaton steps") -> None:
    """Let the listener in, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(Pause(what, done, total, unit))
