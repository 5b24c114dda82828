"""Follows a run by the files in its directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from difflogic.model.model import Model
from difflogic.run.records import state_of
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import Summary
from difflogic.system.errors import DctError
from difflogic.system.files import kind_of
from difflogic.view.reports.contents import read_training
from difflogic.view.watching.feed import Feed

_Stamp = tuple[int, int] | None


class Follower:
    """Publishes changes in a run's directory each time that a feed calls it.

    It tries missing, incomplete or damaged files again later: training may not have begun, or may
    have been killed and resumed.
    """

    def __init__(self, path: Path) -> None:
        self._run = RunDirectory(path)
        self._numbers: tuple[_Stamp, _Stamp] | None = None
        self._summary: Summary | None = None
        self._model: _Stamp = None

    def __call__(self, feed: Feed) -> None:
        """Read the files once and publish what has changed."""
        with suppress(DctError, OSError):  # perhaps half written: the next look tries again
            if kind_of(self._run.path):
                self._look(self._run, feed)
            else:
                feed.publish(state="removed")

    def _look(self, run: RunDirectory, feed: Feed) -> None:
        numbers = _stamp(run.metrics), _stamp(run.summary)
        if numbers != self._numbers:
            rows, summary = read_training(run.path)
            self._numbers = numbers
            self._summary = summary
            feed.publish(rows=rows, exact_epoch=summary.exact_epoch if summary else None)
        state = state_of(run, self._summary)
        if state != feed.snapshot.state:
            feed.publish(state=state)
        model = _stamp(run.model)
        if model is not None and model != self._model:
            found = Model.load(run.model)
            self._model = model
            feed.publish(model=found)


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
