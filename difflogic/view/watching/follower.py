"""Follows a run or a sweep by the files in its directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary
from difflogic.sweeps.directory import SweepDirectory
from difflogic.system.errors import DctError
from difflogic.system.files import for_shell
from difflogic.view.reports.source import read_training
from difflogic.view.watching.feed import Feed
from difflogic.view.watching.snapshot import Status

_Stamp = tuple[int, int] | None


class Follower:
    """Publishes changes in a run's or a sweep's directory each time that a feed calls it.

    It tries missing, incomplete or damaged files again later: training may not have begun, or may
    have been killed and resumed.
    """

    def __init__(self, path: Path) -> None:
        self._sweep = SweepDirectory(path) if SweepDirectory(path).is_sweep else None
        self._run = path
        self._numbers: tuple[_Stamp, _Stamp] | None = None
        self._model: _Stamp = None

    def __call__(self, feed: Feed) -> None:
        """Read the files once and publish what has changed."""
        try:
            if self._sweep is not None:
                self._look_at_sweep(self._sweep, feed)
            self._look_at_run(RunDirectory(self._run), feed)
        except (DctError, OSError):
            return  # perhaps half written: the next look tries again

    def _look_at_run(self, run: RunDirectory, feed: Feed) -> None:
        numbers = _stamp(run.metrics), _stamp(run.summary)
        if numbers != self._numbers:
            rows, summary = read_training(run.path)
            self._numbers = numbers
            feed.publish(
                rows=rows,
                run=for_shell(run.path),
                status=_status(summary, rows),
                exact_epoch=summary["exact_epoch"] if summary else None,
            )
        model = _stamp(run.model)
        if model is not None and model != self._model:
            found = Model.load(run.model)
            self._model = model
            feed.publish(model=found)

    def _look_at_sweep(self, sweep: SweepDirectory, feed: Feed) -> None:
        """Show the run saved last, and list all runs."""
        plan = sweep.read_plan()
        places = [sweep.run_path(variant, seed) for variant in plan.variants for seed in plan.seeds]
        saved = {path: _stamp(RunDirectory(path).metrics) for path in places}
        newest = max(saved, key=lambda path: saved[path] or (0, 0))
        if newest != self._run:
            self._run, self._numbers, self._model = newest, None, None
        runs = tuple(_run(path, newest) for path in saved)
        if runs != feed.snapshot.runs:
            feed.publish(runs=runs)


def _run(path: Path, shown: Path) -> tuple[str, ...]:
    try:
        summary = read_summary(RunDirectory(path))
    except DctError:
        summary = None
    status = _status(summary, [0] if path.is_dir() else [])
    exact = summary["exact_epoch"] if summary else None
    state = f"{status}, shown above" if path == shown else status
    seed = path.name.removeprefix("seed")
    return path.parent.name, seed, state, "–" if exact is None else f"{exact:,}"


def _status(summary: dict[str, Any] | None, rows: Any) -> Status:
    if summary is not None and summary["finished"]:
        return "finished"
    if summary is not None and summary["interrupted"]:
        return "stopped"
    return "running" if rows else "waiting"


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
