"""The plan of a training run on a machine.

It settles what `auto` leaves open: workers, strategies, samples in flight, memory. None of
them changes a bit of the result.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.problem import Problem
from difflogic.engine.hardware import Hardware
from difflogic.engine.soft.arrangement import Arrangement, Rollouts, total
from difflogic.engine.soft.program import compile_program
from difflogic.engine.soft.sharing import Sharing
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import at_least, counted, parse_bytes, show_bytes
from difflogic.training.pool import pool_steps

SPARE = 0.1
"""Share of the available memory that the buffers leave free."""


@dataclass(frozen=True)
class ParallelPlan(Arrangement):
    """How a configuration is trained; created by `for_problem`."""

    search_bytes: int
    """Most bytes of a search's buffers; 0 if there is no search."""
    budget: int | None
    """Bytes that all buffers may take; None if no limit is known."""

    @classmethod
    def for_problem(
        cls,
        problem: Problem,
        netlist: Netlist,
        machine: Hardware | None = None,
        search_bytes: int = 0,
    ) -> ParallelPlan:
        """Plan the training of a netlist on a machine, by default on this one as it is now.

        Searches take `search_bytes`. Raises ConfigError if the memory does not suffice.
        """
        machine = machine or Hardware.here()
        batch = problem.training.batch
        rollouts = rollouts_of(problem, netlist)
        budget = _budget(problem, machine)
        # A grid far too large would take minutes to cut into tiles.
        least = total(rollouts.shared(groups=1, chunks=1))
        if machine.memory is not None and least > machine.memory:
            raise _impossible(problem, machine, rollouts, 1, least)
        plan = cls(
            machine=machine,
            rollouts=rollouts,
            gates=netlist.gates,
            batch=batch,
            wave=batch,
            sharing=Sharing(strategy=problem.parallel.strategy),
            search_bytes=search_bytes,
            budget=budget,
        )
        return _fit(plan.at(_workers(problem, plan)), problem)

    @property
    def bytes_shared(self) -> int:
        """Bytes that all workers share, including the buffers for searches."""
        return super().bytes_shared + self.search_bytes

    @property
    def warnings(self) -> list[str]:
        """Warnings to a user who asked for too many workers."""
        workers = self.workers
        found = []
        if workers > self.tasks:
            found.append(
                f"{workers} workers for {counted(self.tasks, 'task')}: {workers - self.tasks} of "
                "them only wait"
            )
        if workers > self.machine.cores:
            found.append(
                f"{workers} workers on {counted(self.machine.cores, 'core')}: they wait for each "
                "other, and a waiting worker may keep another from working"
            )
        return found

    def __str__(self) -> str:
        """The decisions in a line."""
        how = ", then ".join(self.strategies) or "sequential"
        return (
            f"{counted(self.workers, 'worker')}, {how}; "
            f"{counted(len(self.chunks), 'chunk')} of {counted(self.tiles_per_chunk, 'tile')}; "
            f"{counted(self.wave, 'sample')} in flight, {show_bytes(self.bytes)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the decisions as plain numbers and texts, as in summary.json."""
        cut = ("workers", "samples_per_group", "groups")
        taken = ("bytes_per_worker", "bytes_shared", "bytes", "search_bytes")
        return {
            "strategies": list(self.strategies),
            **{name: getattr(self, name) for name in cut},
            "tiles_per_group": len(self.tiles),
            "chunks_per_group": len(self.chunks),
            "samples_in_flight": self.wave,
            "waves": self.waves,
            "tasks": self.tasks,
            **{name: getattr(self, name) for name in taken},
            "memory_budget": self.budget,
        }


def rollouts_of(problem: Problem, netlist: Netlist) -> Rollouts:
    """Return the rollouts that training a netlist takes."""
    task = problem.task
    training = problem.training
    return Rollouts(
        program=compile_program(netlist),
        channels=netlist.channels,
        grid=Grid(task.height, task.width, problem.automaton.boundary),
        steps=max(problem.automaton.steps + training.later_steps, pool_steps(problem)),
        dtype=np.dtype(training.precision),
        losses=2 if training.later_steps else 1,
        loss_channels=len(task.loss_channels),
        masked=problem.automaton.fire_rate < 1,
    )


def _budget(problem: Problem, machine: Hardware) -> int | None:
    text = problem.parallel.memory_budget
    if text != "auto":
        try:
            return parse_bytes(text)
        except ConfigError as error:
            raise ConfigError(f"[parallel] memory_budget: {error}") from None
    return None if machine.memory is None else int((1 - SPARE) * machine.memory)


def _workers(problem: Problem, plan: ParallelPlan) -> int:
    """Return the requested workers, or else as many as have enough to do."""
    if plan.sharing.strategy == "sequential":
        return 1
    if problem.parallel.workers != "auto":
        return problem.parallel.workers
    cores = plan.machine.cores
    return min(cores, plan.at(cores).tasks, plan.useful_workers)


def _fit(plan: ParallelPlan, problem: Problem) -> ParallelPlan:
    """Return the plan with as many workers, and then groups in flight, as fit the budget.

    Raises ConfigError if one group of samples on one worker does not fit.
    """
    budget = plan.budget
    if budget is None or plan.bytes <= budget:
        return plan
    group = plan.samples_per_group
    least = replace(plan, wave=min(plan.wave, group))
    if least.at(1).bytes > budget:
        raise _impossible(problem, plan.machine, plan.rollouts, least.wave, least.at(1).bytes)
    fewer = (least.at(workers) for workers in range(plan.workers, 0, -1))
    found = next(each for each in fewer if each.bytes <= budget)

    def with_wave(groups: int) -> ParallelPlan:
        return replace(found, wave=min(plan.wave, groups * group))

    sizes = range(1, plan.groups + 1)
    fitting = bisect_right(sizes, budget, key=lambda groups: with_wave(groups).bytes)
    return with_wave(max(1, fitting))


def _impossible(
    problem: Problem, machine: Hardware, rollouts: Rollouts, samples: int, least: int
) -> ConfigError:
    budget = problem.parallel.memory_budget
    task = problem.task
    what = (
        f"the buffers of one worker and {counted(samples, 'sample')} of {task.height}×{task.width} "
        f"cells over {counted(rollouts.steps, 'step')} take at least {show_bytes(least)}"
    )
    remedy = "lower [task] height or width, [automaton] steps or the circuit's gates"
    if budget != "auto":
        return ConfigError(
            f'[parallel] memory_budget "{budget}": {what}: give at least '
            f'"{at_least(least)}", or {remedy}'
        )
    available = show_bytes(machine.memory or 0)
    return ConfigError(f"[parallel] memory_budget: {what}, and {available} are available: {remedy}")
