"""A progress counter on stderr: a live line on a terminal, otherwise plain lines."""

from __future__ import annotations

import time

from cli.errors import note
from cli.terminal import display

QUIET_SECONDS = 10.0
"""Without a terminal: seconds between two lines."""


class Counter:
    """Counts finished parts. Use it in a `with`; the live line disappears at the end.

    As in display.py, the caller draws, since a refreshing thread would disturb measurements.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        """Count `what`, up to `total` if that is known."""
        self._what, self._total = what, total
        self._started = time.perf_counter()
        self._next = self._started + QUIET_SECONDS
        self._first = 0
        self._live = None
        if display.can_animate():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Counter:
        if self._live is not None:
            self._live.start()
            self._next = self._started
        self.update(0)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, done: int, remark: str = "") -> None:
        """Show the number done, if it is time to; `remark` describes the last one."""
        now = time.perf_counter()
        if done and not self._first:  # the time before the first part does not predict the rest
            self._started, self._first = now, done
        if now < self._next:
            return
        if self._live is None:
            self._next = now + QUIET_SECONDS
            note(self._text(done))
            return
        self._draw(done, remark)
        spent = time.perf_counter() - now
        self._next = now + max(display.FRAME_SECONDS, spent / display.FRAME_SHARE)

    def _text(self, done: int) -> str:
        return f"{self._what} {done}" + (f"/{self._total}" if self._total else "")

    def _draw(self, done: int, remark: str) -> None:
        from rich.text import Text

        assert self._live is not None
        line = Text(self._text(done) + " ", no_wrap=True, overflow="ellipsis")
        if self._total:
            line.append_text(display.bar(done / self._total, display.MAX_BAR // 2))
            if done > self._first:
                spent = time.perf_counter() - self._started
                left = spent * (self._total - done) / (done - self._first)
                line.append(f" {display.clock(left)} left")
        line.append(f" {remark}", "dim")
        self._live.update(line, refresh=True)
