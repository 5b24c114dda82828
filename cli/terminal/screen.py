"""Displays on stderr: redrawn in place on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cli.failures import note
from cli.terminal.signs import shows

if TYPE_CHECKING:
    from rich.console import Console

FRAME_SECONDS = 1 / 8
"""Shortest time between two frames: faster cannot be read."""

FRAME_SHARE = 0.01
"""Largest share of time spent on frames: a slow terminal gets fewer of them."""

QUIET_SECONDS = 10.0
"""Without a terminal: seconds between two lines of a counter."""

COUNTER_BAR = 30


def can_animate() -> bool:
    """Return whether stderr can be redrawn in place.

    Both stdout and stderr must be terminals: if one is redirected, the output is being collected.
    """
    terminal = sys.stdout.isatty() and sys.stderr.isatty()
    return terminal and shows(sys.stderr) and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Display:
    """Base class of displays. By itself it shows nothing, for `--quiet`."""

    def update(self) -> None:
        """Show changes, if it is time to."""

    def close(self) -> None:
        """Show the final state, and restore the terminal."""


class Screen(Display):
    """Draws frames in place of each other: rich text that `compose` makes for a console.

    The caller triggers each frame: a refreshing thread would compete with the workers.
    """

    def __init__(self, compose: Callable[[Console], Any], stays: bool = True) -> None:
        """With `stays`, the last frame remains when the screen is closed."""
        from rich.console import Console
        from rich.live import Live

        self._compose, self._stays, self._next = compose, stays, 0.0
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(
            console=self._console, auto_refresh=False, redirect_stdout=False, transient=not stays
        )
        self._live.start()

    def update(self, now: bool = False) -> None:
        """Draw a frame if it is time to, or `now`."""
        begun = time.perf_counter()
        if now or begun >= self._next:
            self._live.update(self._compose(self._console), refresh=True)
            spent = time.perf_counter() - begun
            self._next = begun + max(FRAME_SECONDS, spent / FRAME_SHARE)

    def close(self) -> None:
        if self._stays:
            self.update(now=True)
        self._live.stop()
        if self._stays:
            self._console.print()


class Counter:
    """Counts finished parts. Use it in a `with`; the live line disappears at the end."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Count `what`, up to `total` if that is known."""
        self._what, self._total = what, total
        self._done, self._first, self._remark = 0, 0, ""
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
        """Show how many parts are done, if it is time to; `remark` describes the last one."""
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

    def _compose(self, console: Console) -> Any:
        from rich.text import Text

        line = Text(self._text + " ", no_wrap=True, overflow="ellipsis")
        if self._total:
            line.append_text(bar(self._done / self._total, COUNTER_BAR))
            if self._done > self._first:
                spent = time.perf_counter() - self._started
                left = spent * (self._total - self._done) / (self._done - self._first)
                line.append(f" {clock(left)} left")
        return line.append(f" {self._remark}", "dim")


def bar(share: float, cells: int) -> Any:
    """Return a bar of `cells` characters as rich text, filled to `share`, 0 to 1."""
    from rich.text import Text

    done = int(share * cells)
    return Text().append("━" * done, "green").append("─" * (cells - done), "dim")


def clock(seconds: float) -> str:
    """Format a remaining time as m:ss or h:mm:ss."""
    minutes, seconds = divmod(round(min(seconds, 359_999)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
