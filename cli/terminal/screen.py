"""What stderr shows in place of what it showed before, where it is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

FRAME_SECONDS = 1 / 8
"""Shortest time between two frames: faster cannot be read."""

FRAME_SHARE = 0.01
"""Largest share of time spent on frames: a slow terminal gets fewer of them."""


def can_animate() -> bool:
    """Return whether stderr can be redrawn in place.

    Only if stdout and stderr are both terminals: a redirected one means that output is collected.
    """
    encoding = (getattr(sys.stderr, "encoding", None) or "").lower().replace("-", "")
    terminal = sys.stdout.isatty() and sys.stderr.isatty()
    return terminal and encoding == "utf8" and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Display:
    """Shows nothing: the base class of displays, and the one for `--quiet`."""

    def update(self) -> None:
        """Show what has changed, if it is time to."""

    def close(self) -> None:
        """Show the final state, and restore the terminal."""


class Screen(Display):
    """Draws frames in place of each other: rich text that `compose` makes for a console.

    Its user calls it: a thread that refreshes the screen would compete with the workers.
    """

    def __init__(self, compose: Callable[[Console], Any], stays: bool = True) -> None:
        """The last frame `stays` when the screen is closed, or disappears."""
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
        """Draw the last frame if it stays, and restore the terminal."""
        if self._stays:
            self.update(now=True)
        self._live.stop()
        if self._stays:
            self._console.print()


def bar(share: float, cells: int) -> Any:
    """Return a bar of `cells` characters as rich text, filled to `share`, 0 to 1."""
    from rich.text import Text

    done = int(share * cells)
    return Text().append("━" * done, "green").append("─" * (cells - done), "dim")


def clock(seconds: float) -> str:
    """Format a remaining time as m:ss or h:mm:ss."""
    whole = round(min(seconds, 359_999))
    minutes, seconds_left = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"
