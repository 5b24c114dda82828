"""The newest state of a run, from trainers or files to browsers.

Whoever publishes a state never waits for a browser: only the newest one is kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from difflogic.view.watching.news import News, Snapshot, news

WATCHED_SECONDS = 5.0
"""Time after a browser has asked for which it is expected to ask again."""

LOOK_SECONDS = 0.25
"""Least time between two looks at the run."""

SHARE = 10
"""The same as a multiple of the time that a look takes: a tenth of a core while the run goes on."""


class Feed:
    """The newest snapshot, and the number of the last change of each part of its news."""

    def __init__(self, look: Callable[[Feed], None] | None = None, **fields: Any) -> None:
        """Start with `fields` of a snapshot; `look` publishes what is new when a browser asks."""
        self.snapshot = Snapshot(**fields)
        self._look = look
        self._lock = threading.Lock()
        self._told: Snapshot | None = None
        self._parts: dict[str, tuple[int, Any]] = {}
        self._number = 0
        self._asked = float("-inf")
        self._next = float("-inf")

    @property
    def watched(self) -> bool:
        """Whether a browser shows the page. If not, nothing needs to be published."""
        return time.monotonic() - self._asked < WATCHED_SECONDS

    def publish(self, **changes: Any) -> None:
        """Change fields of the snapshot. Only one thread may."""
        self.snapshot = replace(self.snapshot, **changes)

    def since(self, number: int) -> News:
        """Return what has changed after `number`, and the number to ask with next time."""
        with self._lock:
            self._asked = began = time.monotonic()
            if began >= self._next or self.snapshot.state != "training":
                self._renew()
                self._next = began + max(LOOK_SECONDS, SHARE * (time.monotonic() - began))
            new = {name: value for name, (at, value) in self._parts.items() if at > number}
            return new | {"number": self._number}

    def _renew(self) -> None:
        if self._look is not None:
            self._look(self)
        if self.snapshot is self._told:
            return
        self._told = self.snapshot
        self._number += 1
        for name, value in news(self._told).items():
            if name not in self._parts or self._parts[name][1] != value:
                self._parts[name] = self._number, value
