"""Pauses of long computations, in which a listener can report progress or cancel.

A compiled kernel ignores signals. So long computations call kernels for a bounded amount of work at
a time, and `pause` before each call, including the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Pause(NamedTuple):
    """How far a long computation has come."""

    what: str
    done: int
    total: int
    unit: str = "automaton steps"


Listener = Callable[[Pause], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While entered, call `listener` at every pause of this thread; it may raise to stop there.

    A stopped computation leaves its arguments as they were, or they have to be discarded.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def pause(what: str, done: int, total: int, unit: str = "automaton steps") -> None:
    """Call the listener, if there is one."""
    listener = _listener.get()
    if listener is not None:
        listener(Pause(what, done, total, unit))
