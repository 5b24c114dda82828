"""Ctrl-C as a request to stop, so that a step and the saving after it finish."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what schedulers and service managers send."""


class Interruption:
    """While entered, Ctrl-C or SIGTERM sets `requested` and interrupts nothing.

    A compiled kernel cannot be stopped anyway, and a second press must not cut short the saving
    that follows the first. Outside the main thread it does nothing: signals go to the main one.

    With `at_once` it also raises KeyboardInterrupt where it is. That can get lost in a callback
    of the compiler's: call `check` afterwards.
    """

    def __init__(self, at_once: bool = False) -> None:
        self.at_once = at_once
        self.requested = False
        self.exit_code = 0
        """128 plus the signal's number, as shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._request) for number in SIGNALS}
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was requested: here, where nothing is half done."""
        if self.requested:
            raise KeyboardInterrupt

    def _request(self, signum: int, frame: FrameType | None) -> None:
        if not (self.requested or self.at_once):
            # Not through a stream, which may be in the middle of a line.
            os.write(2, b"\nstopping after this step, or this search ...\n")
        self.requested = True
        self.exit_code = self.exit_code or 128 + signum
        if self.at_once:
            raise KeyboardInterrupt
