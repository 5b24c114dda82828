"""What asks the work of a thread to stop: signals, and questions that cost something."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from difflogic.system.work import work, working


def delayed(ask: Callable[[], bool], seconds: float) -> Callable[[], bool]:
    """Return a function that says yes from `seconds` after its first yes from `ask` on."""
    since: float | None = None

    def asked() -> bool:
        nonlocal since
        if since is None and ask():
            since = time.monotonic()
        return since is not None and time.monotonic() >= since + seconds

    return asked


@contextmanager
def deferring_interrupts() -> Iterator[None]:
    """Within this context, Ctrl-C asks the work to stop; KeyboardInterrupt comes at its end.

    Python's handler would raise anywhere, even when a step has changed half of the logits. Handlers
    that others installed stay, and nothing changes in other threads.
    """
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not own or threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = threading.Event()
    outer = work().asked
    signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        with working(asked=lambda: pressed.is_set() or outer()):
            yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed.is_set():
        raise KeyboardInterrupt


def handled_signals() -> set[int]:
    """Return the signals that call a function of this process: it may save before it ends."""
    return {number for number in signal.valid_signals() if callable(signal.getsignal(number))}
