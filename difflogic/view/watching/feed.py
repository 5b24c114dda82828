"""The newest state of a run, from trainers or files to browsers.

Whoever publishes a state never waits for a browser: only the newest one is kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow

Status = Literal["waiting", "running", "stopped", "finished"]

WATCHED_SECONDS = 5.0
"""Time after a browser has asked for which it is expected to ask again."""


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
    run: str = ""
    """The same for the run that is shown."""
    training: bool = False
    """Whether the process that serves the page also trains."""


class Feed:
    """The newest snapshot, for any number of threads."""

    def __init__(self, look: Callable[[Feed], None] | None = None, **fields: Any) -> None:
        """Start with `fields` of a snapshot; `look` publishes what is new when a browser asks."""
        self.snapshot = Snapshot(**fields)
        self.asked = float("-inf")
        """When a browser last asked, by the monotonic clock."""
        self._look, self._lock = look, threading.Lock()

    @property
    def watched(self) -> bool:
        """Whether a browser shows the page. If not, nothing needs to be published."""
        return time.monotonic() - self.asked < WATCHED_SECONDS

    def publish(self, **changes: Any) -> None:
        """Change fields of the snapshot."""
        with self._lock:
            self.snapshot = replace(self.snapshot, **changes)

    def look(self) -> Snapshot:
        """Return the newest snapshot."""
        if self._look is not None:
            self._look(self)
        return self.snapshot
