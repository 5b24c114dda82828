"""What one rank of a run does of each batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine.hardware import Machine
from difflogic.engine.plan import ParallelPlan
from difflogic.system.ranks import Ranks


@dataclass(frozen=True)
class RankPlan:
    """The samples of a rank, whole groups of them, and how it does them."""

    samples: slice
    """Of a batch; they may be none."""
    plan: ParallelPlan
    """For a batch of as many samples as any rank has."""

    @classmethod
    def of(
        cls, config: Config, netlist: Netlist, ranks: Ranks, machine: Machine | None = None
    ) -> Self:
        """Share a batch out evenly, among ranks on machines like this one, or a described one.

        Raises ConfigError if the memory cannot suffice.
        """
        batch = config.training.batch
        if ranks.size == 1:
            return cls(slice(0, batch), ParallelPlan.for_model(config, machine, netlist))
        machine = machine or Machine.here()
        memory = None if machine.memory is None else machine.memory // ranks.here
        machine = replace(machine, cores=max(1, machine.cores // ranks.here), memory=memory)
        # Gate sums of samples of one group meet in one slot.
        group = ParallelPlan.for_model(config, machine, netlist).samples_per_group
        groups = -(-batch // group)
        most = min(batch, -(-groups // ranks.size) * group)
        training = config.training.model_copy(update={"batch": most})
        own = config.model_copy(update={"training": training})
        return cls(ranks.part(batch, group), ParallelPlan.for_model(own, machine, netlist))
