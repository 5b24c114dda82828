"""Which samples of each batch a rank computes, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine.hardware import Machine
from difflogic.engine.plan import ParallelPlan, counted
from difflogic.system.ranks import Ranks


@dataclass(frozen=True)
class RankPlan:
    """A rank's samples, in whole groups, and how it computes them."""

    samples: slice
    """Which samples of a batch; may be empty."""
    plan: ParallelPlan
    """For as many samples as the rank with the most has."""

    @classmethod
    def of(
        cls, config: Config, netlist: Netlist, ranks: Ranks, machine: Machine | None = None
    ) -> Self:
        """Divide a batch evenly among ranks, on machines like this one or a described one.

        Raises ConfigError if the memory is too small.
        """
        batch = config.training.batch
        if ranks.size == 1:
            return cls(slice(0, batch), ParallelPlan.for_model(config, machine, netlist))
        machine = machine or Machine.here()
        memory = None if machine.memory is None else machine.memory // ranks.here
        machine = replace(machine, cores=max(1, machine.cores // ranks.here), memory=memory)
        # The samples of a group add up in one slot, so a group is never split.
        group = ParallelPlan.for_model(config, machine, netlist).samples_per_group
        groups = -(-batch // group)
        most = min(batch, -(-groups // ranks.size) * group)
        training = config.training.model_copy(update={"batch": most})
        own = config.model_copy(update={"training": training})
        return cls(ranks.part(batch, group), ParallelPlan.for_model(own, machine, netlist))

    def warnings(self, config: Config, ranks: Ranks) -> list[str]:
        """Return warnings about the requested number of ranks."""
        groups = -(-config.training.batch // self.plan.samples_per_group)
        idle = ranks.size - groups
        if idle < 1 or config.pool.batch:
            return []
        return [
            f"{ranks.size} ranks for {counted(groups, 'group')} of samples per step: {idle} of "
            "them can only help to search"
        ]
