"""One object that decides how a configuration is trained on a machine.

It settles what `auto` leaves open: workers, strategies, lanes, chunks, samples in flight, memory.
No decision lets a bit depend on the number of workers, or on memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.config.applying import LARGE, why_not_rectify
from difflogic.engine.arrangement import Arrangement, settle
from difflogic.engine.buffers import Rollouts
from difflogic.engine.hardware import Machine
from difflogic.engine.layout import Grid
from difflogic.engine.program import compile_program
from difflogic.engine.search_buffers import (
    FIRST_STARTS,
    MOST_SAMPLES,
    ROUND,
    VERIFIED_STARTS,
    SearchBuffers,
    Trials,
    most_samples,
)
from difflogic.engine.sharing import Sharing
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import at_least, counted, parse_bytes, show_bytes
from difflogic.tasks import make_task

SECONDS_PER_GATE = 350e-12
"""Of a training step, for each gate and cell, about: docs/performance.md."""

LEAST_SHARE = 0.5e-3
"""Seconds of a training step that a worker must have to be worth waking, which takes 0.07 to
0.4 ms (workers.py): the Game of Life's 0.2 ms are done sooner by one."""

SPARE = 0.1
"""Part of the available memory that is left to everything but the buffers."""


@dataclass(frozen=True)
class ParallelPlan(Arrangement):
    """How a configuration is trained; make one by `for_model`."""

    search: SearchBuffers | None
    """Those of a search for exact circuits; None if there is no search."""
    searchers: int
    """Workers that try circuits in a search, which are small and wait for nobody."""
    budget: int | None
    """Bytes that all buffers may take; None if there is no limit that is known."""

    @classmethod
    def for_model(
        cls, config: Config, machine: Machine | None = None, netlist: Netlist | None = None
    ) -> ParallelPlan:
        """Decide how to train `config` on a machine, by default on this one as it is now.

        `netlist` is that of the model to train, by default the first one of the configuration.
        Raises ConfigError if the memory cannot suffice.
        """
        machine = machine or Machine.here()
        netlist = netlist or Model.create(config).netlist
        parallel, batch = config.parallel, config.training.batch
        rollouts = _rollouts(config, netlist)
        sharing = Sharing()
        if parallel.strategy != "auto":
            sharing = Sharing(strategy=parallel.strategy, samples_first=False)
        asked = replace(
            sharing,
            lanes=None if parallel.lanes == "auto" else parallel.lanes,
            chunk=None if parallel.chunk == "auto" else parallel.chunk,
        )
        searchers = machine.cores if parallel.workers == "auto" else parallel.workers
        plan = cls(
            machine=machine,
            rollouts=rollouts,
            gates=netlist.gates,
            batch=batch,
            wave=batch,
            sharing=settle(asked, rollouts, machine),
            search=_search(config, netlist, rollouts.grid, searchers),
            searchers=searchers,
            budget=_budget(config, machine),
        )
        return _fit(plan.at(_workers(config, plan)), config)

    @property
    def bytes_shared(self) -> int:
        """Bytes that all workers share, with those for searches."""
        return super().bytes_shared + (0 if self.search is None else self.search.bytes)

    @property
    def warnings(self) -> list[str]:
        """What a person should know who asked for this."""
        workers, found = self.workers, []
        if workers > self.tasks:
            found.append(
                f"{workers} workers for {counted(self.tasks, 'task')}: {workers - self.tasks} of "
                "them have nothing to do but wait"
            )
        if workers > self.machine.cores:
            found.append(
                f"{workers} workers on {counted(self.machine.cores, 'core')}: they wait for each "
                "other, and whoever waits may keep another from working"
            )
        return found

    def __str__(self) -> str:
        """What was decided, in a line."""
        how = ", then ".join(self.strategies) or "sequential"
        return (
            f"{counted(self.workers, 'worker')}, {how}; {self.lanes} lanes, "
            f"{counted(len(self.chunks), 'chunk')} of {counted(self.chunk, 'tile')}; "
            f"{counted(self.wave, 'sample')} in flight, {show_bytes(self.bytes)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """What was decided, for machines and for summary.json: plain numbers and texts."""
        return {
            "strategies": list(self.strategies),
            "workers": self.workers,
            "searchers": self.searchers,
            "lanes": self.lanes,
            "chunk": self.chunk,
            "samples_per_group": self.samples_per_group,
            "groups": self.groups,
            "tiles_per_group": len(self.tiles),
            "chunks_per_group": len(self.chunks),
            "samples_in_flight": self.wave,
            "waves": self.waves,
            "tasks": self.tasks,
            "speedup_ceiling": self.ceiling(),
            "bytes_per_worker": self.bytes_per_worker,
            "bytes_shared": self.bytes_shared,
            "bytes": self.bytes,
            "bytes_of_search_values": 0 if self.search is None else self.search.values,
            "bytes_of_later_steps": 0 if self.search is None else self.search.later,
            "memory_budget": self.budget,
        }


def worth_waking(plan: Arrangement) -> int:
    """Return the workers that a wave has work enough for, so that waking them pays."""
    wave = plan.gate_lanes * plan.wave / plan.batch
    return max(1, int(wave * SECONDS_PER_GATE / LEAST_SHARE))


def _rollouts(config: Config, netlist: Netlist) -> Rollouts:
    task, training = config.task, config.training
    return Rollouts(
        program=compile_program(netlist),
        channels=netlist.channels,
        grid=Grid(task.height, task.width, config.automaton.boundary),
        steps=max(config.automaton.steps + training.later_steps, pool_steps(config)),
        dtype=np.dtype(training.precision),
        losses=2 if training.later_steps else 1,
        loss_channels=len(task.loss_channels),
        masked=config.automaton.fire_rate < 1,
    )


def pool_steps(config: Config) -> int:
    """Return the most steps that a sample of [pool] is rolled out for; 0 if there are none."""
    if not config.pool.batch:
        return 0
    return config.pool.steps + (config.automaton.steps if make_task(config).patches else 0)


def _search(config: Config, netlist: Netlist, grid: Grid, searchers: int) -> SearchBuffers | None:
    """Return the buffers of a search, at most; None if there is none."""
    finishing = config.finishing
    if not finishing.every:
        return None
    task, masked = make_task(config), config.automaton.fire_rate < 1
    cases, steps = task.find_cases(), max(task.decisive_steps)
    # Where nothing is random, one sample tells all. Large grids are not drawn to ask.
    only = not masked and grid.cells <= LARGE and not task.has_random_start
    starts = 1 + sum(map(len, task.patches.values()))
    faced, first, verified = MOST_SAMPLES, FIRST_STARTS, VERIFIED_STARTS
    if cases is not None:
        height, width = cases.starts.shape[2:]
        grid, steps = Grid(height, width, cases.boundary), cases.steps
        faced, first, verified = len(cases.starts), len(cases.starts), 0
    elif only:
        first = min(first, starts)
        faced, verified = min(MOST_SAMPLES, starts), starts - first
        steps = 3 * config.automaton.steps + 1 if task.holds else steps
    damaged, sizes = only and starts > 1, [first]
    rectified = 0
    known = only or cases is not None
    if finishing.rectify and known and why_not_rectify(config) is None:
        rectified = faced if cases is not None else 1
    sizes += [min(ROUND, verified - done) for done in range(0, verified, ROUND)]
    of = steps, masked, damaged, steps if damaged else 1, len(config.task.loss_channels)
    return SearchBuffers(
        netlist,
        grid,
        config.automaton.steps,
        min(most_samples(grid), starts if only else ROUND),
        Trials(faced, *of),
        tuple(Trials(size, *of) for size in sizes),
        searchers,
        rectified,
        stays=only and task.holds,
    )


def _budget(config: Config, machine: Machine) -> int | None:
    asked = config.parallel.memory_budget
    if asked != "auto":
        try:
            return parse_bytes(asked)
        except ConfigError as error:
            raise ConfigError(f"[parallel] memory_budget: {error}") from None
    return None if machine.memory is None else int((1 - SPARE) * machine.memory)


def _workers(config: Config, plan: ParallelPlan) -> int:
    """Return the workers that are asked for, or else as many as have enough to do."""
    if plan.sharing.strategy == "sequential":
        return 1
    if config.parallel.workers != "auto":
        return config.parallel.workers
    cores = plan.machine.cores
    return min(cores, plan.at(cores).tasks, worth_waking(plan))


def _fit(plan: ParallelPlan, config: Config) -> ParallelPlan:
    """Return the plan with as many workers, and then groups in flight, as the budget holds.

    Raises ConfigError if not even one group of samples on one worker fits.
    """
    budget = plan.budget
    if budget is None or plan.bytes <= budget:
        return plan
    group = plan.samples_per_group
    least = replace(plan, wave=min(plan.wave, group))
    if least.at(1).bytes > budget:
        raise _impossible(least.at(1), config)
    # Whole groups, so that gate sums meet in the same order.
    fewer = (least.at(workers) for workers in range(plan.workers, 0, -1))
    found = next(each for each in fewer if each.bytes <= budget)

    def with_wave(groups: int) -> ParallelPlan:
        return replace(found, wave=min(plan.wave, groups * group))

    return _largest(with_wave, plan.groups, budget)


def _largest(make: Callable[[int], ParallelPlan], most: int, budget: int) -> ParallelPlan:
    """Return what `make` makes of the largest number to `most` that the budget holds, or of 1."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if make(middle).bytes <= budget else (low, middle - 1)
    return make(low)


def _impossible(least: ParallelPlan, config: Config) -> ConfigError:
    """Say what does not fit, and what would do."""
    asked, task = config.parallel.memory_budget, config.task
    samples = counted(least.wave, "sample")
    what = (
        f"the buffers of one worker and {samples} of {task.height}×{task.width} cells over "
        f"{least.rollouts.steps} steps take {show_bytes(least.bytes)}"
    )
    remedy = "lower [task] height or width, [automaton] steps or the circuit's gates"
    if asked != "auto":
        return ConfigError(
            f'[parallel] memory_budget "{asked}": {what}: give at least '
            f'"{at_least(least.bytes)}", or {remedy}'
        )
    available = show_bytes(least.machine.memory or 0)
    return ConfigError(f"[parallel] memory_budget: {what}, and {available} are available: {remedy}")
