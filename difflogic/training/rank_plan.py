"""How ranks share a batch: which samples each computes, and how their gradients are added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.config.problem import Problem
from difflogic.engine.hardware import Hardware
from difflogic.engine.soft.rollout import Engine, add_slots
from difflogic.system.array_types import Array, Bits
from difflogic.system.machine import cpu_count
from difflogic.system.quantities import counted
from difflogic.system.ranks import Ranks
from difflogic.system.work import ignore
from difflogic.training.learner import Differentiator
from difflogic.training.plan import ParallelPlan


@dataclass(frozen=True)
class RankPlan:
    """The samples of a rank, in whole groups, and how it computes them."""

    samples: slice
    """Part of a batch; may be empty."""
    plan: ParallelPlan
    """Made for the largest number of samples that any rank has."""

    @classmethod
    def of(cls, problem: Problem, netlist: Netlist, ranks: Ranks, search_bytes: int = 0) -> Self:
        """Divide a batch evenly among ranks, on machines like this one.

        Raises ConfigError if there is too little memory.
        """
        batch = problem.training.batch
        machine = Hardware.here()
        if ranks.size == 1:
            plan = ParallelPlan.for_problem(problem, netlist, machine, search_bytes)
            return cls(slice(0, batch), plan)
        memory = None if machine.memory is None else machine.memory // ranks.here
        machine = replace(machine, cores=max(1, machine.cores // ranks.here), memory=memory)
        # The samples of a group add up in one slot, so a group is never split.
        group = ParallelPlan.for_problem(problem, netlist, machine, search_bytes).samples_per_group
        groups = -(-batch // group)
        most = min(batch, -(-groups // ranks.size) * group)
        training = problem.training.model_copy(update={"batch": most})
        own = replace(problem, training=training)
        plan = ParallelPlan.for_problem(own, netlist, machine, search_bytes)
        return cls(ranks.part(batch, group), plan)

    def warnings(self, problem: Problem, ranks: Ranks) -> list[str]:
        """Return warnings about the requested number of ranks."""
        groups = -(-problem.training.batch // self.plan.samples_per_group)
        idle = ranks.size - groups
        cores = cpu_count()
        found = []
        if idle >= 1 and not problem.pool.batch:
            found.append(
                f"{ranks.size} ranks for {counted(groups, 'group')} of samples per step: {idle} of "
                f"them {'has' if idle == 1 else 'have'} nothing to do"
            )
        if ranks.here > cores:
            found.append(
                f"{ranks.here} ranks on {counted(cores, 'core')}: they wait for each other, and a "
                "waiting rank may keep another from working"
            )
        return found


def exchanged(like: Array, batch: int) -> tuple[Bits, Array, Array]:
    """Return zeros that ranks exchange: all bytes, and views of the sums, as `like`, and losses."""
    data = np.zeros(like.nbytes + 8 * batch, np.uint8)
    sums, losses = np.split(data, [like.nbytes])
    return data, sums.view(like.dtype).reshape(like.shape), losses.view(np.float64)


class OrderedSum:
    """Adds the gradients of all ranks in the order of the samples.

    Each rank adds its slots to the sum of the ranks before it; rank 0 adds at once.
    """

    def __init__(self, ranks: Ranks, total: Array) -> None:
        """`total` (parameters, 4) is equal on all ranks, before and after."""
        self._ranks = ranks
        self._total = total
        self._waiting: list[Array] = []
        self._last: Differentiator | None = None

    def add(self, engine: Differentiator, last: bool = False) -> None:
        """Add an engine's slots. With `last`, it does not run again before `combine`."""
        if self._ranks.leads:
            engine.reduce(self._total)
        elif last:
            self._last = engine
        else:
            assert isinstance(engine, Engine), "ranks share the work of processors"
            self._waiting.append(engine.slots())

    def combine(self, data: Array | None = None, also: Callable[[], None] = ignore) -> None:
        """Add this rank's slots when it is its turn, and wait until all ranks have added theirs.

        The ranks exchange `data`: by default the total, else a buffer with the total and with
        what `also` adds.
        """
        shared = self._total if data is None else data
        self._ranks.add_in_turn(shared.reshape(-1).view(np.uint8), lambda: self._add(also))

    def _add(self, also: Callable[[], None]) -> None:
        for slots in self._waiting:
            add_slots(slots, self._total)
        if self._last is not None:
            self._last.reduce(self._total)
        also()
