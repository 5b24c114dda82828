"""Where the runs of a sweep go: processes of this machine, or this very process."""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from difflogic.gpu.fleet import Fleets
from difflogic.scale.sweeps.work import Control, Job, Outcome, run
from difflogic.system.errors import StorageError, TrainingError

SAFE_PATH = "PYTHONSAFEPATH"

FILES, FILES_PER_JOB = 32, 8
"""Open files of the sweep itself, and of each process that it starts, with room to spare."""


class WorkersLostError(TrainingError):
    """Worker processes died, or the cluster went away: runs may have to be done again."""


class Backend:
    """Does jobs through joblib. Entered and used in one thread, which starts all processes."""

    compiles_here = True
    """Whether the runs find in this machine's cache what was compiled before."""

    def __init__(self, slots: int | None) -> None:
        """`slots` is the number of runs at the same time, or None if the cluster decides it."""
        self.slots = slots
        self.warnings: list[str] = []
        """What a person should know of it, once it is prepared."""

    def prepare(self, control: Control) -> Control:
        """Start what is needed, and return how the runs are to be reached."""
        return control

    @abstractmethod
    def outcomes(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Do the jobs and yield what became of each, as they end. Raises WorkersLostError."""

    def request_stop(self) -> None:
        """Reach those runs which do not see the control's directory. From any thread."""

    def close(self, at_once: bool) -> None:
        """End the worker processes; `at_once` without waiting for them."""


def shield_workers() -> None:
    """Keep Ctrl-C from the processes that this thread starts from now on.

    It reaches every process of a terminal, but workers are to save their runs, and are told so.
    They inherit the thread's mask; the trackers are started first, as they would lift it.
    """
    import signal

    if hasattr(signal, "pthread_sigmask"):
        import multiprocessing.resource_tracker as standard

        from joblib.externals.loky.backend import resource_tracker as loky

        _silence(loky)
        standard.ensure_running()
        loky.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _silence(tracker: Any) -> None:
    """Let loky's tracker, a process that removes what others leave behind, print nothing.

    After a kill it would print warnings and tracebacks, about nothing that a person has to do.
    """
    spawn = tracker.spawnv_passfds
    if spawn.__module__ == __name__:
        return

    def silently(path: str, arguments: list[str], descriptors: list[int]) -> Any:
        *head, code = arguments
        quiet = "import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 2); "
        return spawn(path, [*head, quiet + code], descriptors)

    tracker.spawnv_passfds = silently


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """Let processes that start meanwhile import nothing from the working directory.

    Python would: `-c` and `-m`, by which worker processes begin, put it first, so that a json.py
    that lies there runs.
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
    """Raise StorageError if processes could not even be started: libraries do not say it well."""
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

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        import joblib
        from joblib.externals.loky.process_executor import BrokenProcessPool

        # One thread for whatever library would like to use all cores in each process.
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
    """Threads of this process, whose runs share a GPU: steps of one shape are dispatched at once.

    Searches and proofs take turns on the processor.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self._fleets = Fleets(jobs)

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        with ThreadPoolExecutor(self.slots, thread_name_prefix="dct-run") as threads:
            for each in as_completed([threads.submit(run, job, self._fleets) for job in jobs]):
                yield each.result()
