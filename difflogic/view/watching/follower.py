"""Follows a run or a sweep by the files in its directory."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary
from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.system.errors import DctError
from difflogic.view.reports.source import read_training
from difflogic.view.watching.feed import Feed, Status

POLL_SECONDS = 0.5

_Stamp = tuple[int, int] | None


class Follower:
    """Offers changes in a run's or a sweep's directory to a feed. Use it in a `with`.

    It tries missing, incomplete or damaged files again later: training may not have begun, or may
    have been killed and resumed.
    """

    def __init__(self, path: Path, feed: Feed) -> None:
        self._feed = feed
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._sweep = SweepDirectory(path) if SweepDirectory(path).exists else None
        self._run = path
        self._numbers: tuple[_Stamp, _Stamp] | None = None
        self._model: _Stamp = None

    def __enter__(self) -> Follower:
        self.poll()
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            self.poll()

    def poll(self) -> None:
        """Read the files once and publish what has changed."""
        try:
            if self._sweep is not None:
                self._poll_sweep(self._sweep)
            self._poll_run(self._run)
        except (DctError, OSError):
            return  # perhaps half written: the next look tries again

    def _poll_run(self, path: Path) -> None:
        run = RunDirectory(path)
        numbers = _stamp(run.metrics), _stamp(run.summary)
        if numbers != self._numbers:
            rows, summary = read_training(path)
            self._numbers = numbers
            self._feed.publish(
                rows=rows,
                status=_status(summary, rows),
                exact_epoch=summary["exact_epoch"] if summary else None,
            )
        model = _stamp(run.model)
        if model is not None and model != self._model:
            found = Model.load(run.model)
            self._model = model
            self._feed.publish(model=found)

    def _poll_sweep(self, sweep: SweepDirectory) -> None:
        """Show the run saved last, and list all runs."""
        plan = sweep.read_plan()
        places = [sweep.run_path(variant, seed) for variant in plan.variants for seed in plan.seeds]
        saved = {path: _stamp(RunDirectory(path).metrics) for path in places}
        newest = max(saved, key=lambda path: saved[path] or (0, 0))
        if newest != self._run:
            self._run, self._numbers, self._model = newest, None, None
        runs = tuple(_run(path, newest) for path in saved)
        if runs != self._feed.snapshot.runs:
            self._feed.publish(runs=runs)


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
