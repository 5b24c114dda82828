"""Where the runs of a sweep are done: in processes of this machine, or in this process."""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from difflogic.gpu.fleet import Fleets
from difflogic.sweeps.planned_run import Control, Outcome, PlannedRun, run
from difflogic.system.errors import StorageError, TrainingError
from difflogic.system.stops import handled_signals

SAFE_PATH = "PYTHONSAFEPATH"

FILES = 32
FILES_PER_JOB = 8
"""Open files of the sweep itself, and of each process that it starts, with some margin."""


class WorkersLostError(TrainingError):
    """Worker processes died, or the cluster went away; runs may have to be repeated."""


class Backend:
    """Does jobs. Used in one thread, which starts all processes."""

    def __init__(self, slots: int | None) -> None:
        """`slots` is the number of concurrent runs; None if the cluster decides it."""
        self.slots = slots
        self.warnings: list[str] = []
        """Messages for people, after `prepare` and while runs are done."""

    def prepare(self, control: Control) -> Control:
        """Start what is needed, and return the control for the runs."""
        return control

    @abstractmethod
    def outcomes(self, jobs: Iterable[PlannedRun]) -> Iterator[Outcome]:
        """Do the jobs and yield their outcomes as they end. Raises WorkersLostError."""

    def close(self, at_once: bool) -> None:
        """End the worker processes; `at_once` without waiting for them."""


def shield_workers() -> None:
    """Block SIGTERM, and what this process handles, in those that this thread starts from now on.

    A terminal, or a service manager, sends them to every process, but workers are told in another
    way to save their runs. They inherit the thread's mask. The trackers are started first, since
    they would unblock Ctrl-C.
    """
    import signal

    if hasattr(signal, "pthread_sigmask"):
        import multiprocessing.resource_tracker as standard

        from joblib.externals.loky.backend import resource_tracker as loky

        standard.ensure_running()
        loky.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, *handled_signals()})


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Keep processes that start meanwhile from importing out of the working directory.

    Worker processes start with `-c` or `-m`, which put that directory first on Python's path, so
    that a json.py there would run.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before


def _require_files(jobs: int) -> None:
    """Raise StorageError if too few open files are allowed to start the processes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    needed = FILES + FILES_PER_JOB * jobs
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY or limit >= needed:
        return
    if most == resource.RLIM_INFINITY or most >= needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))
        return
    raise StorageError(
        f"{jobs} runs at a time need {needed} open files, and {limit} are allowed: raise the limit "
        "with ulimit -n, or run fewer at a time"
    )


class LocalBackend(Backend):
    """Processes of this machine (loky), one run in each; this process itself if `jobs` is 1."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self._jobs = jobs

    def prepare(self, control: Control) -> Control:
        if self._jobs > 1:
            _require_files(self._jobs)
        return control

    def outcomes(self, jobs: Iterable[PlannedRun]) -> Iterator[Outcome]:
        from concurrent.futures.process import BrokenProcessPool

        import joblib

        # Libraries that use all cores by default get one thread in each process.
        limits: dict[str, Any] = {"inner_max_num_threads": 1} if self._jobs > 1 else {}
        with joblib.parallel_config(backend="loky", n_jobs=self._jobs, **limits):
            parallel = joblib.Parallel(
                return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs"
            )
            try:
                yield from parallel(joblib.delayed(run)(job) for job in jobs)
            except BrokenProcessPool as error:
                raise WorkersLostError(
                    "a worker process was killed, perhaps for lack of memory: use fewer --workers"
                ) from error

    def close(self, at_once: bool) -> None:
        if self._jobs > 1:
            from joblib.externals.loky import get_reusable_executor

            with contextlib.suppress(Exception):
                get_reusable_executor().shutdown(wait=not at_once, kill_workers=at_once)


class DeviceBackend(Backend):
    """Threads of this process whose runs share a GPU, which takes steps of one shape together.

    Searches and proofs take turns on the processor.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self._fleets = Fleets(jobs)

    def outcomes(self, jobs: Iterable[PlannedRun]) -> Iterator[Outcome]:
        with ThreadPoolExecutor(self.slots, thread_name_prefix="dct-run") as threads:
            for each in as_completed([threads.submit(run, job, self._fleets) for job in jobs]):
                yield each.result()
