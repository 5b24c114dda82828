"""Whether another machine pays: what a step saves by ranks, and what they hand over for it.

It is arithmetic on costs that are measured on one machine: every machine is taken to be as this
one, and the network to be nobody else's.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from difflogic.config import Config
from difflogic.engine.hardware import Machine
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.replay import replay
from difflogic.system.json_values import fields_of
from difflogic.system.ranks import Ranks
from difflogic.training.pool import AT_ONCE
from difflogic.training.rank_plan import RankPlan, exchanged_bytes

BANDWIDTH = 125e6
"""Bytes per second of the network that is reckoned with: one gigabit per second."""


@dataclass(frozen=True)
class Network:
    """A training step by ranks on machines of their own."""

    ranks: int
    alone: float
    """Seconds of a step on one machine."""
    together: float
    """The same on all, if nothing had to be handed over."""
    messages: int
    """That follow each other in a step, each waiting for the one before."""
    large: int
    """Of these, those that hold the sums."""
    bytes_each: int
    """Of such a one."""

    @property
    def saved(self) -> float:
        """Seconds of a step that the other machines save, before anything is handed over."""
        return self.alone - self.together

    @property
    def transfer(self) -> float:
        """Seconds that the sums are on their way at BANDWIDTH, whatever the latency."""
        return self.large * self.bytes_each / BANDWIDTH

    @property
    def latency(self) -> float | None:
        """Seconds that a message may take to arrive for the machines to pay; None if none may."""
        left = (self.saved - self.transfer) / self.messages
        return left if left > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines, in seconds."""
        return fields_of(self, "saved", "transfer", "latency")


def network(
    config: Config, costs: StepCosts, ranks: int, machine: Machine | None = None
) -> Network:
    """Reckon with so many ranks, each on a machine like this one, or like a described one."""
    netlist = Model.create(config).netlist
    group = Ranks()
    alone = RankPlan.of(config, netlist, group, machine).plan
    group.size = ranks
    together = RankPlan.of(config, netlist, group, machine).plan
    spread = ceil(log2(ranks))  # as in a tree: who has it hands it on
    turns = 1 + ceil(config.pool.batch / (AT_ONCE * ranks))
    large = turns * (ranks - 1 + spread)
    return Network(
        ranks,
        replay(alone, costs),
        replay(together, costs),
        spread + large,
        large,
        exchanged_bytes(config, netlist.parameters),
    )
