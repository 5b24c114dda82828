"""Whole runs side by side, over seeds and settings: `sweep`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from difflogic.config import load_config
from difflogic.config.effects import without_effect
from difflogic.experiment.searching import compile_kernels
from difflogic.run.lock import RunLock, holding
from difflogic.sweeps.backends import Backend, DeviceBackend, LocalBackend
from difflogic.sweeps.comparison import ComparedVariant, compare
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.execution import Execution, default_jobs
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.sweeps.sweep_plan import MAX_NAME, Request, SweepPlan, make_plan
from difflogic.sweeps.sweep_results import Row, VariantResult, aggregate, to_data, write_tables
from difflogic.system.deadline import never_stop
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, RunDirectoryError, TrainingError
from difflogic.system.files import kind_of
from difflogic.system.quantities import parse_seeds
from difflogic.system.work import Progress, say, stopped, undoing, work

TICK_SECONDS = 0.125
TABLE_SECONDS = 2.0
"""Time between two updates of the tables."""

GRACE_SECONDS = 30.0
"""Time for runs to save after a request to stop. Older checkpoints remain anyway."""


@dataclass(frozen=True)
class SweepProgress:
    """The state of a sweep."""

    path: Path
    plan: SweepPlan
    execution: Execution
    row: Row | None
    """The run that just ended, if any."""


@dataclass(frozen=True)
class Swept:
    """A sweep's directory and results, a row per run."""

    path: Path
    plan: SweepPlan
    rows: tuple[Row, ...] = field(repr=False)
    stopped: bool
    """Whether `should_stop` ended it; another sweep of the directory continues it."""
    problem: str | None
    """Why it ended early, if workers were lost."""

    @property
    def is_kept(self) -> bool:
        """Whether its directory is there: one that is stopped before its runs leaves none."""
        return SweepDirectory(self.path).is_sweep

    @property
    def comparison(self) -> list[ComparedVariant]:
        """Each combination of settings beside the first one, on the same seeds."""
        return compare(self.plan, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON."""
        return {**to_data(self.plan, self.rows), "comparison": self.comparison}

    @property
    def results(self) -> list[VariantResult]:
        """The results of each combination of settings, over its seeds."""
        return aggregate(self.plan, self.rows)


EARLIER = SweepOptions()


@checked
def sweep(
    config: str | None = None,
    options: SweepOptions = EARLIER,
    *,
    progress: Callable[[SweepProgress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = never_stop,
) -> Swept:
    """Train a configuration with many seeds, and with all combinations of some settings.

    Without a `config`, the earlier sweep in the options' directory continues, with seeds added.
    `progress` is called several times a second. If `should_stop` returns true, the runs are saved
    and the sweep ends.

    Call it from the main thread, below ``if __name__ == "__main__":``, as it starts processes.
    Raises ConfigError, RunDirectoryError, and ClusterError if no cluster answers.
    """
    seeds = options.seeds
    allow_code = options.allow_code
    place = None if options.directory is None else SweepDirectory(Path(options.directory))
    numbers = parse_seeds(seeds) if isinstance(seeds, str) else tuple(sorted(set(seeds or ())))
    if not all(0 <= seed < 2**63 for seed in numbers):
        raise ConfigError(f"seeds must be from 0 to {2**63 - 1}")
    if config is not None:
        texts = tuple(
            each if isinstance(each, str) else f"{each.key}={json.dumps(each.value)}"
            for each in options.overrides
        )
        load_config(config, options.overrides)  # while options know their names
        if any(text.split("=")[0].strip() == "training.seed" for text in texts):
            raise ConfigError("--set training.seed: a sweep has its seeds from --seeds")
        request = Request(config, texts, tuple(options.grid), options.recipe)
        plan = _make_plan(request, numbers, place, allow_code)
    elif place is None:
        raise ConfigError(
            "name a configuration, as in dct sweep checkerboard --seeds 0-15, or an earlier "
            "sweep's --dir"
        )
    elif options.overrides or options.grid or options.recipe:
        raise ConfigError("settings need a CONFIG: an earlier sweep keeps its own")
    else:
        plan = place.read_plan().with_seeds(numbers)
        place.load_code(plan, allow_code)
    workers = _backend(plan, options)
    if place is None:
        varied = [axis.rpartition(".")[2] for axis in plan.axes]
        name = "-".join([f"sweep-{plan.experiment}", *varied])[:MAX_NAME]
        place = SweepDirectory.create(name=name)
    else:
        place = SweepDirectory.at(place.path)
    return _Sweep(place, plan, workers, progress, should_stop).run()


def _make_plan(
    request: Request, seeds: Sequence[int], place: SweepDirectory | None, allow_code: bool
) -> SweepPlan:
    """Return the sweep, including the seeds of an earlier one in that directory."""
    is_earlier = place is not None and place.is_sweep
    if not seeds and not is_earlier:
        raise ConfigError("give the seeds to train with, such as --seeds 0-15")
    plan = make_plan(request, seeds, allow_code=allow_code)
    if place is None:
        return plan
    if is_earlier:
        return place.join(plan)
    if place.is_run:
        raise place.refusal("holds a run: name a new or empty directory, or a sweep")
    if kind_of(place.path):
        place.require_empty()
    return plan


def _backend(plan: SweepPlan, options: SweepOptions) -> Backend:
    jobs = options.jobs
    scheduler = options.scheduler
    if options.scheduler_timeout is not None and scheduler is None:
        raise ConfigError("--scheduler-timeout needs --scheduler")
    configs = [variant.config for variant in plan.variants]
    devices = {config.parallel.device for config in configs}
    if devices == {"gpu"} and scheduler is None:
        from difflogic.experiment.device_plan import runs_at_a_time

        return DeviceBackend(runs_at_a_time(configs, jobs, plan.size))
    if "gpu" in devices:
        raise ConfigError("[parallel] device: a GPU takes all runs of a sweep, on this machine")
    if scheduler is not None:
        from difflogic.sweeps.cluster import TIMEOUT, DaskBackend

        return DaskBackend(scheduler, jobs, options.scheduler_timeout or TIMEOUT)
    return LocalBackend(jobs or default_jobs(plan))


@dataclass(frozen=True)
class _Sweep:
    place: SweepDirectory
    plan: SweepPlan
    backend: Backend
    progress: Callable[[SweepProgress], None]
    should_stop: Callable[[], bool]

    def run(self) -> Swept:
        """Train the missing runs, and write the tables."""
        is_new = not self.place.is_sweep
        stopped = False
        problem = None
        with holding(self.place) as held, ExitStack() as discarding:
            if is_new:
                discarding.callback(self.place.discard_if_without_runs)
            self.place.write_plan(self.plan)
            with Execution(self.place, self.plan, self.backend) as execution:
                configs = [variant.config for variant in self.plan.variants]
                useless = (each for config in configs for each in without_effect(config))
                for message in [*execution.warnings, *dict.fromkeys(useless)]:
                    say(f"warning: {message}")
                if execution.kept < self.plan.size:
                    with undoing(partial(self._abandon, held, is_new)):
                        for config in {x.training.precision: x for x in configs}.values():
                            compile_kernels(config)
                try:
                    stopped = self._watch(execution, held)
                except TrainingError as error:  # workers are lost for good
                    problem = str(error)
            rows = execution.rows
            held.require()
            write_tables(self.place, self.plan, rows)
        return Swept(self.place.path, self.plan, tuple(rows), stopped, problem)

    def _abandon(self, held: RunLock, is_new: bool) -> None:
        """Remove a new sweep without runs; called if this process is ended at once."""
        if is_new:
            self.place.discard_if_without_runs()
        held.remove()
        self.place.remove_if_made()

    def _watch(self, execution: Execution, held: RunLock) -> bool:
        """Report progress until all runs have ended; return whether they were stopped."""
        reported = 0
        stopping = False
        give_up = float("inf")
        next_table = time.monotonic() + TABLE_SECONDS
        self._show(execution, None)
        for row in execution.work(TICK_SECONDS):
            self._show(execution, row)
            for message in execution.notices[reported:]:
                say(f"warning: {message}")
                reported += 1
            now = time.monotonic()
            if not stopping and (stopped() or self.should_stop()):
                stopping = True
                give_up = now + GRACE_SECONDS
                say("stopping: the runs are saving …")
                execution.stop()
            if now > give_up:
                execution.abandon()
                break
            if row is not None and now > next_table and held.held:
                with suppress(RunDirectoryError):  # only at the end it must succeed
                    write_tables(self.place, self.plan, execution.rows)
                next_table = time.monotonic() + TABLE_SECONDS
        return stopping

    def _show(self, execution: Execution, row: Row | None) -> None:
        work().tell(Progress("runs ended:", execution.ended, self.plan.size))
        self.progress(SweepProgress(self.place.path, self.plan, execution, row))
