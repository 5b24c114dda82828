"""Displays on stderr: redrawn in place on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

from cli import interrupt
from cli.failures import note

if TYPE_CHECKING:
    from rich.console import Console

FRAME_SECONDS = 1 / 8
"""Shortest time between two frames: faster cannot be read."""

FRAME_SHARE = 0.01
"""Largest share of time spent on frames: a slow terminal gets fewer of them."""

REMARK = 40
"""Characters of a counter's remark."""

QUIET_SECONDS = 10.0
"""Without a terminal: seconds between two lines of a counter."""


def can_animate() -> bool:
    """Return whether stderr can be redrawn in place.

    Both stdout and stderr must be terminals: if one is redirected, the output is being collected.
    """
    terminal = sys.stdout.isatty() and sys.stderr.isatty()
    return terminal and os.environ.get("TERM", "dumb") not in ("dumb", "")


class Display:
    """Base class of displays. By itself it shows nothing, for `--quiet`."""

    def update(self) -> None:
        """Show changes, if it is time to."""

    def close(self) -> None:
        """Show the final state, and restore the terminal."""


class Bar(NamedTuple):
    """One line of a screen: a bar between its name and some words."""

    what: str
    done: float
    total: float | None
    """None if nobody knows: the bar pulses."""
    words: str = ""


class Screen(Display):
    """Draws frames in place of each other: rich's bars, with lines above and below.

    The caller triggers each frame: a refreshing thread would compete with the workers.
    """

    def __init__(
        self,
        bars: Callable[[], Sequence[Bar]],
        around: Callable[[Console, Any], Iterable[Any]] | None = None,
        stays: bool = True,
    ) -> None:
        """`around` puts what else is drawn around the bars, and its console tells the size.

        With `stays`, the last frame remains when the screen is closed; it has no bars.
        """
        from cli.terminal.bars import Bars

        self._bars = bars
        self._around = around
        self._stays = stays
        self._next = 0.0
        self._notice = ""
        self._is_last = False
        self._shown = Bars(self._frame, stays)
        self.console = self._shown.console
        self._size, self._drawing = self.console.size, threading.RLock()
        self._shown.start()
        interrupt.tell_by(self._tell)

    @property
    def seconds_left(self) -> float | None:
        """What the first bar's pace leaves; None if it has none yet."""
        return self._shown.tasks[0].time_remaining if self._shown.tasks else None

    def _frame(self, table: Any) -> Iterable[Any]:
        from rich.text import Text

        bars = None if self._is_last else table
        yield from self._around(self.console, bars) if self._around else [table]
        if self._notice:
            yield Text(self._notice, "bold yellow")

    def _tell(self, text: str) -> None:
        """Show a notice from now on, called by the thread that receives signals."""
        self._notice = text
        self.update(now=True)

    def update(self, now: bool = False) -> None:
        """Draw a frame if it is time to, or `now`."""
        begun = time.perf_counter()
        if now or begun >= self._next:
            with self._drawing, suppress(OSError):  # a lost terminal loses no run
                if self.console.size != self._size:  # the last frame may be folded now
                    self._size = self.console.size
                    self._shown.clear()
                self._shown.show(self._bars())
            spent = time.perf_counter() - begun
            self._next = begun + max(FRAME_SECONDS, spent / FRAME_SHARE)

    def close(self) -> None:
        interrupt.tell_by(None)
        self._is_last = True
        self._notice = ""
        if self._stays:
            self.update(now=True)
        with suppress(OSError):
            self._shown.stop()


class Counter:
    """Counts finished parts. Use it in a `with`; the live line disappears at the end."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Count `what`, up to `total` if that is known."""
        self._what = what
        self._total = total
        self._done = 0
        self._remark = ""
        self._next = time.perf_counter() + QUIET_SECONDS
        self._screen: Screen | None = None

    def __enter__(self) -> Counter:
        if can_animate():
            self._screen = Screen(self._bars, stays=False)
            self._screen.update()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._screen is not None:
            self._screen.close()

    def update(self, done: int, remark: str = "") -> None:
        """Show how many parts are done, if it is time to; `remark` describes the last one."""
        self._done = done
        self._remark = remark
        if self._screen is not None:
            self._screen.update()
        elif (now := time.perf_counter()) >= self._next:
            self._next = now + QUIET_SECONDS
            note(f"{self._what} {self._count}")

    @property
    def _count(self) -> str:
        return f"{self._done}/{self._total}" if self._total else f"{self._done}"

    def _bars(self) -> Sequence[Bar]:
        left = None if self._screen is None else self._screen.seconds_left
        more = f"{clock(left)} left" if left else ""
        remark = shorten(self._remark, REMARK, placeholder="…")
        words = " ".join(filter(None, (self._count, more, remark)))
        return [Bar(self._what, self._done, self._total, words)]


def clock(seconds: float) -> str:
    """Format a remaining time as m:ss or h:mm:ss."""
    minutes, seconds = divmod(round(min(seconds, 359_999)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
