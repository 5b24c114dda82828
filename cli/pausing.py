"""Reports long computations on stderr, and lets Ctrl-C stop them."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from cli import interrupt
from cli.errors import note

if TYPE_CHECKING:
    from difflogic.system.pauses import Pause

SECONDS = 0.7
"""Computations that take longer are reported, if at least LEFT seconds remain."""
LEFT = 10.0


def report_long_work() -> AbstractContextManager[None]:
    """Return a context in which long computations are reported, and can be stopped."""
    from difflogic.system.pauses import listening

    return listening(LongWork())


class LongWork:
    """Is called at pauses: stops if a signal asked to, and reports each long computation once."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, int], float] = {}
        self._reported: set[tuple[str, int]] = set()

    def __call__(self, pause: Pause) -> None:
        """Raise KeyboardInterrupt if that was requested, except at the beginning."""
        key, now = (pause.what, pause.total), time.monotonic()
        if not pause.done:
            self._began[key] = now
            return
        interrupt.check()
        start = self._began.setdefault(key, now)
        left = (now - start) * (pause.total - pause.done) / pause.done
        if now - start < SECONDS or left < LEFT or key in self._reported:
            return
        self._reported.add(key)
        note(
            f"{pause.what} {pause.done}/{pause.total} {pause.unit}, about {left:.0f} s left "
            "(Ctrl-C stops it)"
        )
