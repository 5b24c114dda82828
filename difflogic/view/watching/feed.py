"""What is known of a run now. Whoever trains or reads files offers it; browsers wait for it.

Nobody who offers ever waits for a browser: only the newest state is kept, and one that is slow gets
the newest when it is ready.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from difflogic.model.model import Model
from difflogic.training.metrics import MetricsRow

Status = Literal["waiting", "running", "stopped", "finished"]


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment. Sequences only grow while `generation` stays."""

    model: Model | None = None
    """With logits of its own, which nobody changes any more."""
    epoch: int = 0
    """Of the model."""
    rows: Sequence[MetricsRow] = ()
    generation: int = 0
    """Goes up when rows are others than before: a run that went back to a checkpoint."""
    status: Status = "waiting"
    exact_epoch: int | None = None
    runs: tuple[dict[str, Any], ...] = ()
    """Of a sweep: variant, seed, epochs, status, and whether it is the one that is shown."""
    path: str = ""
    """The run's or the sweep's directory, as a word of a command line."""
    training: bool = False
    """Whether the process that trains is the one that serves the page, too."""


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
        """Whether anybody is looking: else nothing has to be offered."""
        return self._watchers > 0

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    def offer(self, **changes: Any) -> None:
        """Change parts of the snapshot, by name."""
        with self._changed:
            rows = changes.get("rows")
            if rows is not None and rows is not self._snapshot.rows and self._went_back(rows):
                changes["generation"] = self._snapshot.generation + 1
            self._snapshot = replace(self._snapshot, **changes)
            self._version += 1
            self._changed.notify_all()

    def _went_back(self, rows: Sequence[MetricsRow]) -> bool:
        before = self._snapshot.rows
        if len(rows) < len(before):
            return True
        return bool(before) and rows[len(before) - 1] != before[-1]

    def wait(self, version: int, seconds: float) -> tuple[int, Snapshot]:
        """Return the newest version and snapshot, once there is a newer one or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != version or self.closed, seconds)
            return self._version, self._snapshot

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than the feed is open."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed, seconds)

    def close(self) -> None:
        """Let everybody go who waits."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def __enter__(self) -> Feed:
        """Count one who looks, until it is left."""
        with self._changed:
            self._watchers += 1
        return self

    def __exit__(self, *raised: object) -> None:
        with self._changed:
            self._watchers -= 1
