"""Doing a sweep's missing runs on a backend, and reporting their progress."""

from __future__ import annotations

import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from difflogic.run.lock import CONTROL
from difflogic.sweeps.backends import Backend, WorkersLostError, safe_path, shield_workers
from difflogic.sweeps.directory import RunState, SweepDirectory
from difflogic.sweeps.planned_run import Control, Outcome, PlannedRun, read_beats, remove_control
from difflogic.sweeps.sweep_plan import SweepPlan, Variant, with_seed
from difflogic.sweeps.sweep_results import Row, make_row
from difflogic.system.machine import cpu_count
from difflogic.tasks.custom import code_of

MAX_LOSSES = 3
"""Losses of workers in a row, with no run ending in between, after which the sweep gives up."""


class Running(NamedTuple):
    """An active run."""

    variant: Variant
    seed: int
    epoch: int
    """Finished epochs."""


class Execution:
    """Does the missing runs of a sweep. Use it as a context, in the main thread.

    Another thread hands out the runs, so that the main thread can draw and receive Ctrl-C.
    """

    def __init__(self, directory: SweepDirectory, plan: SweepPlan, backend: Backend) -> None:
        self._directory = directory
        self._plan = plan
        self._backend = backend
        self._runs = list(plan.runs)
        self._rows: dict[int, Row] = {}
        self.warnings: list[str] = []
        """Problems of earlier runs, which are done again."""
        states = [directory.run_state(*each) for each in self._runs]  # before any is touched
        for index, found in enumerate(states):
            variant, seed = self._runs[index]
            if found.summary is not None:
                self._rows[index] = make_row(variant, seed, found.summary)
            elif found.problem is not None:
                self.warnings.append(self._repair(found, variant, seed))
        self.kept = len(self._rows)
        """Number of runs that had ended before."""
        self.notices = backend.warnings
        """Messages for people, in the order of events."""
        self._control = directory.path.absolute() / f"{CONTROL}{secrets.token_hex(8)}"
        self._stopping = threading.Event()
        self._queue: queue.Queue[Outcome | BaseException | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="dct-sweep", daemon=True)

    def __enter__(self) -> Execution:
        with suppress(OSError):
            for stale in self._directory.path.glob(f"{CONTROL}*"):
                remove_control(stale)  # of a sweep that was killed
        return self

    def __exit__(self, *raised: object) -> None:
        remove_control(self._control)

    @property
    def rows(self) -> list[Row]:
        """One row per run, ordered by variant, then by seed."""
        order = {variant.name: number for number, variant in enumerate(self._plan.variants)}
        rows = [
            self._rows.get(index) or make_row(variant, seed, None)
            for index, (variant, seed) in enumerate(self._runs)
        ]
        return sorted(rows, key=lambda row: (order[row.variant], row.seed))

    @property
    def ended(self) -> int:
        """Number of runs that have ended, including earlier and failed ones."""
        return len(self._rows)

    @property
    def slots(self) -> int | None:
        """Number of concurrent runs; None if a cluster decides it."""
        return self._backend.slots

    def running(self) -> list[Running]:
        """Return the visible active runs."""
        beats = read_beats(self._control)
        return [
            Running(*self._runs[index], beats[index])
            for index in sorted(beats)
            if index < len(self._runs) and index not in self._rows
        ]

    def work(self, tick: float) -> Iterator[Row | None]:
        """Do the missing runs; yield a row when a run ends, and None every `tick` seconds.

        Raises WorkersLostError if the backend cannot continue, and RunDirectoryError if the files
        of a run cannot be written.
        """
        if len(self._rows) == len(self._runs):
            return
        self._control.mkdir(0o700)
        self._thread.start()
        while True:
            try:
                item = self._queue.get(timeout=tick)
            except queue.Empty:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield from self._take(item)

    def stop(self) -> None:
        """Tell the runs to save and stop. `work` continues until they have."""
        if not self._stopping.is_set():
            self._stopping.set()
            remove_control(self._control)

    def abandon(self) -> None:
        """End the worker processes without waiting; their runs can be resumed later."""
        self.stop()
        self._backend.close(at_once=True)

    def _repair(self, found: RunState, variant: Variant, seed: int) -> str:
        if not found.foreign:
            return f"{found.problem}: the run is restored from its last checkpoint"
        aside = self._directory.set_aside(variant, seed)
        return f"{found.problem}: it is now {aside.name}, and the run is done again"

    def _take(self, outcome: Outcome) -> Iterator[Row]:
        variant, seed = self._runs[outcome.index]
        row = make_row(variant, seed, outcome.summary, outcome.error)
        if row.status != "missing":
            self._rows[outcome.index] = row
            yield row

    def _work(self) -> None:
        try:
            with safe_path():
                shield_workers()
                try:
                    self._do_all()
                finally:
                    self._backend.close(at_once=False)
        except BaseException as error:
            self._queue.put(None if self._stopping.is_set() else error)
        else:
            self._queue.put(None)

    def _do_all(self) -> None:
        control = self._backend.prepare(Control(str(self._control), parent=os.getpid()))
        pending = {
            index: self._job(index, control)
            for index in range(len(self._runs))
            if index not in self._rows
        }
        losses = 0
        while pending and not self._stopping.is_set():
            before = len(pending)
            try:
                for outcome in self._backend.outcomes(list(pending.values())):
                    del pending[outcome.index]
                    self._queue.put(outcome)
            except WorkersLostError as error:
                losses = losses + 1 if len(pending) == before else 1
                if losses >= MAX_LOSSES:
                    raise
                self.notices.append(f"{error}; its runs continue in new ones")
                time.sleep(0.1)

    def _job(self, index: int, control: Control) -> PlannedRun:
        variant, seed = self._runs[index]
        path = self._directory.run_path(variant, seed).absolute()
        config = with_seed(variant.config, seed)
        return PlannedRun(index, config.to_dict(), str(path), control, code=code_of(config.task))


def default_jobs(plan: SweepPlan) -> int:
    """Return the number of concurrent runs that keeps all cores of this machine busy."""
    cores = cpu_count()
    workers = [variant.config.parallel.workers for variant in plan.variants]
    threads = max(cores if count == "auto" else count for count in workers)
    return max(1, min(cores // threads, plan.size))
