"""Follows a run or a sweep by the files in its directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from difflogic.model.model import Model
from difflogic.run.records import state_of
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import Summary, read_summary
from difflogic.sweeps.directory import SweepDirectory
from difflogic.system.errors import DctError
from difflogic.system.files import for_shell, kind_of
from difflogic.view.reports.contents import read_training
from difflogic.view.watching.feed import Feed

_Stamp = tuple[int, int] | None


class Follower:
    """Publishes changes in a run's or a sweep's directory each time that a feed calls it.

    It tries missing, incomplete or damaged files again later: training may not have begun, or may
    have been killed and resumed.
    """

    def __init__(self, path: Path) -> None:
        self._sweep = SweepDirectory(path) if SweepDirectory(path).is_sweep else None
        self._path = self._run = path
        self._chosen = False
        self._numbers: tuple[_Stamp, _Stamp] | None = None
        self._summary: Summary | None = None
        self._model: _Stamp = None

    def __call__(self, feed: Feed, chosen: int | None = None) -> None:
        """Read the files once and publish what has changed.

        `chosen` is the place of a sweep's run to show from now on.
        """
        try:
            if not kind_of(self._path):
                feed.publish(state="removed")
                return
            if self._sweep is not None:
                self._look_at_sweep(self._sweep, feed, chosen)
            self._look_at_run(RunDirectory(self._run), feed)
        except (DctError, OSError):
            return  # perhaps half written: the next look tries again

    def _look_at_run(self, run: RunDirectory, feed: Feed) -> None:
        numbers = _stamp(run.metrics), _stamp(run.summary)
        if numbers != self._numbers:
            rows, summary = read_training(run.path)
            self._numbers = numbers
            self._summary = summary
            feed.publish(
                rows=rows,
                run=for_shell(run.path),
                exact_epoch=summary.exact_epoch if summary else None,
            )
        state = state_of(run, self._summary)
        if state != feed.snapshot.state:
            feed.publish(state=state)
        model = _stamp(run.model)
        if model is not None and model != self._model:
            found = Model.load(run.model)
            self._model = model
            feed.publish(model=found)

    def _look_at_sweep(self, sweep: SweepDirectory, feed: Feed, chosen: int | None) -> None:
        """List all runs; show the chosen one, or else one until it ends, then one that trains."""
        plan = sweep.read_plan()
        places = [sweep.run_path(variant, seed) for variant in plan.variants for seed in plan.seeds]
        rows = {path: _row(path) for path in places}
        training = [path for path in places if rows[path][2] == "training"]
        if chosen is not None and chosen < len(places):
            self._chosen = True
            self._turn_to(places[chosen], feed)
        elif self._run == self._path or (training and not (self._chosen or self._run in training)):
            saved = {
                path: _stamp(RunDirectory(path).metrics) or (0, 0) for path in training or rows
            }
            self._turn_to(max(saved, key=lambda path: saved[path]), feed)
        runs = tuple(rows.values())
        shown = places.index(self._run)
        if (runs, shown) != (feed.snapshot.runs, feed.snapshot.shown):
            feed.publish(runs=runs, shown=shown)

    def _turn_to(self, run: Path, feed: Feed) -> None:
        if run != self._run:
            self._run = run
            self._numbers = None
            self._summary = None
            self._model = None
            feed.publish(model=None, rows=(), exact_epoch=None)


def _row(path: Path) -> tuple[str, ...]:
    run = RunDirectory(path)
    summary = None
    with suppress(DctError):
        summary = read_summary(run)
    exact = summary.exact_epoch if summary else None
    seed = path.name.removeprefix("seed")
    return path.parent.name, seed, state_of(run, summary), "–" if exact is None else f"{exact:,}"


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
