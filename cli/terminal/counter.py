"""A progress counter on stderr: a live line on a terminal, otherwise plain lines."""

from __future__ import annotations

import time
from typing import Any

from cli.errors import note
from cli.terminal.screen import Screen, bar, can_animate, clock

QUIET_SECONDS = 10.0
"""Without a terminal: seconds between two lines."""

BAR = 30


class Counter:
    """Counts finished parts. Use it in a `with`; the live line disappears at the end."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Count `what`, up to `total` if that is known."""
        self._what, self._total = what, total
        self._done, self._remark = 0, ""
        self._first = 0
        self._started = time.perf_counter()
        self._next = self._started + QUIET_SECONDS
        self._screen: Screen | None = None

    def __enter__(self) -> Counter:
        if can_animate():
            self._screen = Screen(self._compose, stays=False)
            self._screen.update()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._screen is not None:
            self._screen.close()

    def update(self, done: int, remark: str = "") -> None:
        """Show the number done, if it is time to; `remark` describes the last one."""
        now = time.perf_counter()
        if done and not self._first:  # the time before the first part does not predict the rest
            self._started, self._first = now, done
        self._done, self._remark = done, remark
        if self._screen is not None:
            self._screen.update()
        elif now >= self._next:
            self._next = now + QUIET_SECONDS
            note(self._text)

    @property
    def _text(self) -> str:
        return f"{self._what} {self._done}" + (f"/{self._total}" if self._total else "")

    def _compose(self, console: Any) -> Any:
        from rich.text import Text

        line = Text(self._text + " ", no_wrap=True, overflow="ellipsis")
        if self._total:
            line.append_text(bar(self._done / self._total, BAR))
            if self._done > self._first:
                spent = time.perf_counter() - self._started
                left = spent * (self._total - self._done) / (self._done - self._first)
                line.append(f" {clock(left)} left")
        return line.append(f" {self._remark}", "dim")
