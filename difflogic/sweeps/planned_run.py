"""One run of a sweep in a worker process: its job, its control, and its outcome."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.run.lock import is_held
from difflogic.run.run_directory import RunDirectory, epoch_of
from difflogic.run.summary import Summary
from difflogic.system.errors import DctError, RunDirectoryError, UnreadableError
from difflogic.system.files import is_folder, kind_of, read_inside, write_inside
from difflogic.system.work import Stopped, ignore, stopped, working
from difflogic.version import __version__

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets
    from difflogic.run.measures import StepResult
    from difflogic.tasks.custom import Code

BEAT_SECONDS = 0.5
"""Time between two reports of a run's epoch."""

LOCK_SECONDS = 60.0
"""Time to wait for another process, about to end, that holds the run's directory."""


@dataclass(frozen=True)
class Control:
    """How a sweep stops its runs: by removing a directory, which works on a full disk too.

    Runs report their epochs in files there. All workers share the sweep's file system.
    """

    path: str
    """Absolute."""
    parent: int | None = None
    """The process of the sweep, on this machine; runs stop when it ends."""

    def is_orphan(self) -> bool:
        """Return whether this is a worker process whose sweep was killed."""
        return self.parent is not None and self.parent not in (os.getpid(), os.getppid())

    def is_over(self) -> bool:
        """Return whether to stop; it is cheap to call. What cannot be read is there."""
        try:
            return self.is_orphan() or not is_folder(Path(self.path))
        except UnreadableError:
            return False


@dataclass(frozen=True)
class PlannedRun:
    """One run to do."""

    index: int
    config: dict[str, Any]
    """From `Config.to_dict`, with the run's seed."""
    path: str
    """The run directory, absolute."""
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


def run(job: PlannedRun, fleets: Fleets | None = None) -> Outcome:
    """Do or resume a job. Every error becomes the outcome's error. GPU runs share `fleets`."""
    outcome = _run(job, fleets)
    if job.control.is_orphan():
        os._exit(1)  # otherwise the worker would wait minutes for another job
    return outcome


def _run(job: PlannedRun, fleets: Fleets | None) -> Outcome:
    if job.control.is_over():
        return Outcome(job.index)
    try:
        if job.version != __version__:
            what = f"the worker has dct {__version__}, the sweep is run by {job.version}"
            what += ": install the same version on all machines"
            return Outcome(job.index, error=what)
        with working(asked=job.control.is_over, say=ignore):
            return Outcome(job.index, _execute(job, fleets))
    except Stopped:
        return Outcome(job.index)  # in the final tests
    except DctError as error:
        return Outcome(job.index, error=str(error))
    except Exception as error:
        # A bug or a broken machine must not end the other runs.
        return Outcome(job.index, error=f"{type(error).__name__}: {error}")


def _execute(job: PlannedRun, fleets: Fleets | None) -> Summary:
    from difflogic.config import config_from_dict
    from difflogic.experiment.session import execute
    from difflogic.tasks.code import load_code

    if job.code is not None:
        load_code(job.code)
    config = config_from_dict(job.config, "the sweep")
    path = Path(job.path)
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
