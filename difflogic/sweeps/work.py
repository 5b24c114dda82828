"""One run of a sweep in a worker process: its job, its control, and its outcome."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.run.lock import is_held
from difflogic.run.run_directory import RunDirectory, epoch_of
from difflogic.run.summary import Summary
from difflogic.system.errors import DctError, RunDirectoryError, UnreadableError
from difflogic.system.files import is_folder, kind_of, read_inside, write_inside
from difflogic.system.stops import throttled
from difflogic.system.work import Stopped, ignore, stopped, working
from difflogic.version import __version__

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets
    from difflogic.run.measures import StepResult
    from difflogic.tasks.custom import Code

BEAT_SECONDS = 0.5
"""Time between two reports of a run's epoch."""

ASK_SCHEDULER_SECONDS = 2.0
"""Time between two messages of a run to the cluster's scheduler, asking whether to stop."""

LOCK_SECONDS = 60.0
"""Time to wait for another process, about to end, that holds the run's directory."""


@dataclass(frozen=True)
class Control:
    """How a sweep stops its runs: by removing a directory, which works on a full disk too.

    Runs report their epochs in files there. Its name is random, so a worker that finds it shares
    the sweep's file system.
    """

    path: str
    """Absolute."""
    parent: int | None = None
    """The process of the sweep, on this machine; runs stop when it ends."""
    event: str | None = None
    """Name of the Dask event that stops runs on machines without the path."""

    def is_shared(self) -> bool:
        """Return whether this process sees the directory; what cannot be read is there."""
        try:
            return is_folder(Path(self.path))
        except UnreadableError:
            return True

    def stop_test(self) -> Callable[[], bool]:
        """Return a function that tells whether to stop; it is cheap to call."""
        if self.is_shared() or self.event is None:
            return self._is_over
        return throttled(self._is_over_elsewhere, ASK_SCHEDULER_SECONDS)

    def is_orphan(self) -> bool:
        """Return whether this is a worker process whose sweep was killed."""
        return self.parent is not None and self.parent not in (os.getpid(), os.getppid())

    def _is_over(self) -> bool:
        return self.is_orphan() or not self.is_shared()

    def _is_over_elsewhere(self) -> bool:
        """Ask the scheduler; if it does not answer, the sweep is over."""
        from distributed import Event

        try:
            return bool(Event(self.event).is_set())
        except Exception:
            return True


@dataclass(frozen=True)
class PlannedRun:
    """One run to do."""

    index: int
    config: dict[str, Any]
    """From `Config.to_dict`, with the run's seed."""
    path: str
    """The run directory on the sweep's machine, absolute."""
    control: Control
    version: str = __version__
    code: Code | None = None
    """Code of a custom task, which the user has allowed to run."""


@dataclass(frozen=True)
class Outcome:
    """Result of a job: a summary, an error, or neither if it was stopped before it began."""

    index: int
    summary: Summary | None = None
    error: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """The run's files, by name, if the worker does not share the sweep's file system."""


def run(job: PlannedRun, fleets: Fleets | None = None) -> Outcome:
    """Do or resume a job. Every error becomes the outcome's error. GPU runs share `fleets`."""
    outcome = _run(job, fleets)
    if job.control.is_orphan():
        os._exit(1)  # otherwise the worker would wait minutes for another job
    return outcome


def _run(job: PlannedRun, fleets: Fleets | None) -> Outcome:
    should_stop = job.control.stop_test()
    if should_stop():
        return Outcome(job.index)
    try:
        if job.version != __version__:
            what = f"the worker has dct {__version__}, the sweep is run by {job.version}"
            what += ": install the same version on all machines"
            return Outcome(job.index, error=what)
        with working(asked=should_stop, say=ignore):
            if job.control.is_shared() or job.control.event is None:
                return Outcome(job.index, _execute(job, Path(job.path), fleets))
            return _execute_apart(job)
    except Stopped:
        return Outcome(job.index)  # in the final tests
    except DctError as error:
        return Outcome(job.index, error=str(error))
    except Exception as error:
        # A bug or a broken machine must not end the other runs.
        return Outcome(job.index, error=f"{type(error).__name__}: {error}")


def _execute_apart(job: PlannedRun) -> Outcome:
    """Run in a temporary directory and return its files, without access to the sweep's own."""
    with tempfile.TemporaryDirectory(prefix="dct-run-") as directory:
        path = Path(directory)
        summary = _execute(job, path)
        files = RunDirectory(path).contents
    return Outcome(job.index, summary, files=files if summary.finished else {})


def _execute(job: PlannedRun, path: Path, fleets: Fleets | None = None) -> Summary:
    from difflogic.config import config_from_dict
    from difflogic.experiment.session import execute
    from difflogic.tasks.code import load_code

    if job.code is not None:
        load_code(job.code)
    config = config_from_dict(job.config, "the sweep")
    beat = Beat(Path(job.control.path) / str(job.index))
    give_up = time.monotonic() + LOCK_SECONDS
    try:
        while True:
            epoch = 0
            with suppress(OSError, DctError):  # of a new run
                epoch = max(map(epoch_of, RunDirectory(path).checkpoints), default=0)
            beat.write(epoch)
            try:
                return execute(config, path, on_step=beat, fleets=fleets)
            except RunDirectoryError:
                # A worker that lost its sweep may still be saving this run.
                in_use = is_held(path)
                if not in_use or stopped() or time.monotonic() > give_up:
                    raise
            time.sleep(0.5)
    finally:
        beat.end()


class Beat:
    """Writes the number of finished epochs to a file from time to time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = 0.0

    def __call__(self, result: StepResult) -> None:
        if time.monotonic() >= self._next:
            self.write(result.epoch)

    def write(self, epoch: int) -> None:
        self._next = time.monotonic() + BEAT_SECONDS
        # Neither a full disk nor the end of the sweep may stop a run here.
        with suppress(OSError):
            write_inside(self._path, str(epoch))

    def end(self) -> None:
        with suppress(OSError):
            self._path.unlink()


def read_beats(path: Path) -> dict[int, int]:
    """Return the finished epochs of the active runs, by index."""
    beats = {}
    with suppress(OSError):
        for entry in path.iterdir():
            with suppress(OSError, ValueError, DctError):
                beats[int(entry.name)] = int(read_inside(entry, 32) or 0)
    return beats


def remove_control(path: Path) -> None:
    """Stop all runs by removing the control directory."""
    for _ in range(10):  # a run may write its file meanwhile
        with suppress(OSError):
            shutil.rmtree(path)
        with suppress(UnreadableError):
            if not kind_of(path, follow=False):
                return
