"""One run of a sweep, as a worker process does it: what it is given, and what it gives back."""

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

from difflogic import __version__
from difflogic.system.errors import DctError, RunDirectoryError
from difflogic.system.files import read_inside, write_inside

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets
    from difflogic.tasks.own import Code
    from difflogic.training.metrics import StepResult

RUN_FILES = ("config.toml", "metrics.csv", "model.npz", "summary.json")
"""What a run leaves behind, checkpoints aside."""

BEAT_SECONDS = 0.5
"""How often a run says how far it is."""

ASK_SECONDS = 2.0
"""How often a run on a cluster asks whether to go on; each time is a message to the scheduler."""

LOCK_SECONDS = 60.0
"""How long a run waits for a process that holds its directory: one that is about to end."""


@dataclass(frozen=True)
class Control:
    """How a sweep reaches its runs: a directory that is there as long as they are to go on.

    Runs leave a file in it that tells their epoch. Its name is random, so a worker that finds it
    shares the sweep's file system. Removing it works on a full disk too.
    """

    path: str
    """Absolute."""
    parent: int | None = None
    """The process that runs the sweep, on this machine; runs stop when it is gone."""
    event: str | None = None
    """Name of the Dask event that is set to stop runs on machines which do not see the path."""

    def is_shared(self) -> bool:
        return os.path.isdir(self.path)

    def stop_test(self) -> Callable[[], bool]:
        """Return the question "is it time to stop?" for this process; cheap enough to repeat."""
        if self.is_shared() or self.event is None:
            return self._is_over
        return _EventTest(self.event)

    def is_orphan(self) -> bool:
        """Whether this is a worker whose sweep was killed: nobody hears what it has to tell."""
        return self.parent is not None and self.parent not in (os.getpid(), os.getppid())

    def _is_over(self) -> bool:
        return self.is_orphan() or not os.path.isdir(self.path)


@dataclass(frozen=True)
class Job:
    """One run to do."""

    index: int
    config: dict[str, Any]
    """As `Config.to_dict` gives it, with the run's seed."""
    path: str
    """Its run directory as the sweep sees it, absolute."""
    control: Control
    version: str = __version__
    code: Code | None = None
    """Of its task, if that is not the program's own; who made the job was allowed to run it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a job: a summary, or an error, or neither, if it was stopped before."""

    index: int
    summary: dict[str, Any] | None = None
    error: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """The run directory's files, by name, if the worker does not share the sweep's file system."""


def run(job: Job, fleets: Fleets | None = None) -> Outcome:
    """Do a job, or go on with it. Whatever goes wrong becomes the outcome's error.

    Runs on a GPU may share `fleets`.
    """
    outcome = _run(job, fleets)
    if job.control.is_orphan():
        os._exit(1)  # else the worker would wait for minutes for more to do
    return outcome


def _run(job: Job, fleets: Fleets | None) -> Outcome:
    should_stop = job.control.stop_test()
    if should_stop():
        return Outcome(job.index)
    try:
        if job.version != __version__:
            raise DctError(
                f"the worker has dct {__version__}, the sweep is run by {job.version}: install "
                "the same version on all machines"
            )
        if job.control.is_shared() or job.control.event is None:
            return Outcome(job.index, _execute(job, Path(job.path), should_stop, fleets))
        return _execute_apart(job, should_stop)
    except DctError as error:
        return Outcome(job.index, error=str(error))
    except Exception as error:
        # A bug, or a machine in trouble: it must not take the other runs along.
        return Outcome(job.index, error=f"{type(error).__name__}: {error}")


def _execute_apart(job: Job, should_stop: Callable[[], bool]) -> Outcome:
    """Run in a temporary directory and return the files: the sweep's directory is not here."""
    with tempfile.TemporaryDirectory(prefix="dct-run-") as directory:
        path = Path(directory)
        summary = _execute(job, path, should_stop)
        code = () if job.code is None else (job.code.copy_name,)
        names = [name for name in (*RUN_FILES, *code) if (path / name).is_file()]
        files = {name: (path / name).read_bytes() for name in names}
    return Outcome(job.index, summary, files=files if is_finished(summary) else {})


def is_finished(summary: dict[str, Any] | None) -> bool:
    """Whether a run has ended by itself, not by being stopped."""
    return summary is not None and summary.get("finished") is True


def _execute(
    job: Job, path: Path, should_stop: Callable[[], bool], fleets: Fleets | None = None
) -> dict[str, Any]:
    from difflogic.config import config_from_dict
    from difflogic.tasks.own import load_code
    from difflogic.training.session import execute

    if job.code is not None:
        load_code(job.code)
    config = config_from_dict(job.config, "the sweep")
    beat = Beat(Path(job.control.path) / str(job.index))
    give_up = time.monotonic() + LOCK_SECONDS
    try:
        while True:
            beat.tell(0)
            try:
                return execute(config, path, should_stop=should_stop, on_step=beat, fleets=fleets)
            except RunDirectoryError:
                # A worker that lost its sweep may still be saving this very run.
                in_use = (path / ".lock").exists()
                if not in_use or should_stop() or time.monotonic() > give_up:
                    raise
            time.sleep(0.5)
    finally:
        beat.end()


class Beat:
    """Writes down now and then how many epochs a run has finished, for who watches the sweep."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next = 0.0

    def __call__(self, result: StepResult) -> None:
        if time.monotonic() >= self._next:
            self.tell(result.epoch)

    def tell(self, epoch: int) -> None:
        self._next = time.monotonic() + BEAT_SECONDS
        # Neither a full disk nor the end of the sweep may hurt a run here.
        with suppress(OSError):
            write_inside(self._path, str(epoch))

    def end(self) -> None:
        with suppress(OSError):
            self._path.unlink()


def read_beats(path: Path) -> dict[int, int]:
    """Return the runs at work, index → finished epochs."""
    beats = {}
    with suppress(OSError):
        for entry in path.iterdir():
            with suppress(OSError, ValueError, RunDirectoryError):
                beats[int(entry.name)] = int(read_inside(entry, 32) or 0)
    return beats


def remove_control(path: Path) -> None:
    """Tell all runs to stop."""
    for _ in range(10):  # a run may add its file meanwhile
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return


class _EventTest:
    """Asks the scheduler whether the sweep is over; one that cannot be asked counts as over."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = 0.0
        self._is_over = False

    def __call__(self) -> bool:
        now = time.monotonic()
        if not self._is_over and now >= self._next:
            self._next = now + ASK_SECONDS
            self._is_over = self._ask()
        return self._is_over

    def _ask(self) -> bool:
        from distributed import Event

        try:
            return bool(Event(self._name).is_set())
        except Exception:
            return True
