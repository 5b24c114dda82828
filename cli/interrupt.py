"""Ctrl-C as a request to stop, so that a step and the saving after it finish."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interruption:
    """While entered, Ctrl-C sets `requested` and interrupts nothing.

    A compiled kernel cannot be stopped anyway, and a second press must not cut short the saving
    that follows the first. Outside the main thread it does nothing: signals go to the main one.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was requested: here, where nothing is half done."""
        if self.requested:
            raise KeyboardInterrupt

    def _request(self, signum: int, frame: FrameType | None) -> None:
        self.requested = True
