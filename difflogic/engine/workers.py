"""Threads for the kernels, through joblib, and how they share a batch.

A call of joblib.Parallel costs at least 10 ms with joblib's own backends, since it polls for
results with a sleep of that length; a whole training step takes less. The backend below hands
results over as futures: 0.07 ms where it is called in a loop, and 0.4 ms within training steps,
which displace it from the caches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import joblib
from joblib.parallel import ParallelBackendBase

from difflogic.system.errors import ConfigError

BACKEND = "dct-threads"

T = TypeVar("T")


class CallerAndThreads(ParallelBackendBase):
    """A joblib backend over a thread pool that waits for results instead of polling.

    The calling thread does the first task itself when it asks for its result. So one thread less
    has to wake up, and the others find its core taken: woken together after a pause, two threads
    can share a core for milliseconds (measured: steps of 11 ms instead of 8).

    `supports_retrieve_callback` stays False: then joblib asks `retrieve_result` for each result
    in turn, which blocks until it is there.
    """

    supports_retrieve_callback = False
    uses_threads = True
    supports_sharedmem = True
    _pool: ThreadPoolExecutor | None = None
    _caller_is_free = False

    def effective_n_jobs(self, n_jobs: int) -> int:
        return n_jobs

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        self.parallel = parallel
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max(1, n_jobs - 1), thread_name_prefix="dct-worker")
        return n_jobs

    def start_call(self) -> None:
        self._caller_is_free = True

    def submit(self, func: Callable, callback: Callable | None = None) -> Future:
        assert self._pool is not None, "configure() first"

        def task() -> Any:
            try:
                return func()
            finally:
                # Before the result is there, or joblib sleeps for 10 ms where it sees the result
                # of the last task before this call, which counts finished tasks.
                if callback is not None:
                    callback(None)

        if self._caller_is_free:
            self._caller_is_free = False
            return _OwnTask(task)
        return self._pool.submit(task)

    def retrieve_result(self, out: Future, timeout: float | None = None) -> Any:
        if isinstance(out, _OwnTask):
            out.run()
        return out.result(timeout)

    def terminate(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class _OwnTask(Future):
    """A task that the thread which asks for its result does itself."""

    def __init__(self, task: Callable) -> None:
        super().__init__()
        self._task = task

    def run(self) -> None:
        try:
            result = self._task()
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(result)


joblib.register_parallel_backend(BACKEND, CallerAndThreads)


class Workers:
    """A team of `count` threads that stays together for a whole run. Use it in a `with`."""

    def __init__(self, count: int, pin: bool = False) -> None:
        """`pin` lets each keep to one of the cores that this process may use, in turn.

        Raises ConfigError where the system cannot do that.
        """
        self.count = count
        self._cores = _usable_cores() if pin else []
        self._interrupted = False
        self._aside: ThreadPoolExecutor | None = None
        self._parallel = joblib.Parallel(
            n_jobs=count, backend=BACKEND, batch_size=1, pre_dispatch="all"
        )

    def __enter__(self) -> Workers:
        self._parallel.__enter__()
        if self.count > 1:
            self._aside = ThreadPoolExecutor(self.count - 1, thread_name_prefix="dct-helper")
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._aside is not None:
            self._aside.shutdown()
            self._aside = None
        self._parallel.__exit__(*raised)

    def aside(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a function on a thread besides the caller's, as soon as one is free.

        Raises RuntimeError outside of a `with`, and for one worker.
        """
        if self._aside is None:
            raise RuntimeError("no thread besides the caller's: enter two workers or more")
        return self._aside.submit(function, *arguments)

    def run(self, kernel: Callable[..., Any], arguments: list[tuple]) -> None:
        """Run kernel(*arguments[w]) for every worker w at the same time; wait for all.

        There are exactly as many threads as calls, the caller's included, so calls may wait for
        each other.
        """
        if len(arguments) != self.count:
            raise ValueError(f"{len(arguments)} calls for {self.count} workers")
        if self._interrupted:
            raise RuntimeError("an earlier call was interrupted: its workers may still be at it")
        self._interrupted = True
        calls = (joblib.delayed(kernel)(*call) for call in arguments)
        if self._cores:
            cores = [self._cores[worker % len(self._cores)] for worker in range(self.count)]
            calls = (
                joblib.delayed(_on_core)(core, kernel, *call)
                for core, call in zip(cores, arguments, strict=True)
            )
        self._parallel(calls)
        self._interrupted = False


def _usable_cores() -> list[int]:
    if not hasattr(os, "sched_setaffinity"):
        raise ConfigError(
            "[parallel] pin: this system cannot keep threads to cores: set it to false"
        )
    return sorted(os.sched_getaffinity(0))


def _on_core(core: int, kernel: Callable[..., Any], *arguments: Any) -> None:
    """Run a kernel on one core. The thread, which may be the caller's, is free again after it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        kernel(*arguments)
    finally:
        os.sched_setaffinity(0, before)
