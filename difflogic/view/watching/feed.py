"""The newest state of a run, from trainers or files to browsers.

Whoever offers a state never waits for a browser: only the newest one is kept, and a slow browser
gets it when it is ready.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow

Status = Literal["waiting", "running", "stopped", "finished"]


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    model: Model | None = None
    """With its own copy of the logits."""
    rows: Sequence[MetricsRow] = ()
    status: Status = "waiting"
    exact_epoch: int | None = None
    runs: tuple[tuple[str, ...], ...] = ()
    """A sweep's runs: variant, seed, status, and epoch of exactness, in words."""
    path: str = ""
    """The directory of the run or sweep, quoted for a command line."""
    training: bool = False
    """Whether the process that serves the page also trains."""


class Feed:
    """The newest snapshot, for any number of threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._snapshot = Snapshot()
        self._version = 0
        self._watchers = 0
        self.closed = False

    @property
    def watched(self) -> bool:
        """Whether any browser is connected. If not, nothing needs to be offered."""
        return self._watchers > 0

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def publish(self, **changes: Any) -> None:
        """Change fields of the snapshot."""
        with self._changed:
            self._snapshot = replace(self._snapshot, **changes)
            self._version += 1
            self._changed.notify_all()

    def wait(self, version: int, seconds: float) -> tuple[int, Snapshot]:
        """Wait for a version other than `version`, or for `seconds`; return the newest."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != version or self.closed, seconds)
            return self._version, self._snapshot

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`, or until the feed is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed, seconds)

    def close(self) -> None:
        """End all waiting."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def __enter__(self) -> Feed:
        """Count a browser, for the duration of the context."""
        with self._changed:
            self._watchers += 1
        return self

    def __exit__(self, *raised: object) -> None:
        with self._changed:
            self._watchers -= 1
