"""Cancels long computations when a caller's question, or a signal, says so."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from difflogic.system.callbacks import Pause, listening

ASK_SECONDS = 0.1
"""Time from one question whether to stop to the next: it may look for a file."""


def handled_signals() -> set[int]:
    """Return the signals that call a function of this process: it may save before it ends."""
    return {number for number in signal.valid_signals() if callable(signal.getsignal(number))}


@contextmanager
def cancelling(should_stop: Callable[[], bool], grace: float = 0.0) -> Iterator[None]:
    """Within this context, raise KeyboardInterrupt at a pause once `should_stop` returns True.

    What began before may go on for `grace` seconds from the first such pause.
    """
    end, next_time = math.inf, 0.0

    def listener(pause: Pause) -> None:
        nonlocal end, next_time
        now = time.monotonic()
        if end == math.inf and now >= next_time:
            end, next_time = now + grace if should_stop() else math.inf, now + ASK_SECONDS
        if now >= end:
            raise KeyboardInterrupt

    with listening(listener):
        yield
