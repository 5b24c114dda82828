"""How training is cut, shared and held in memory: `plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from difflogic.config import Config, Override, load_config
from difflogic.engine.hardware import MOST_CORES, Machine
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.reasons import Decision, explain
from difflogic.library.progress import ProgressCallback, counter
from difflogic.scale.speed.costs import REPEAT, StepCosts, measure_costs
from difflogic.scale.speed.curves import Curves, counts_between
from difflogic.scale.speed.curves import simulate as replay_curves
from difflogic.scale.speed.network import Network, network
from difflogic.scale.speed.replay import replay
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError

MOST_RANKS = 4096

COMPARED = 10
"""Steps that a simulation is held against."""


@dataclass(frozen=True)
class Planned:
    """A plan, the reasons for it, and what a step costs by measurement on this machine."""

    config: Config
    plan: ParallelPlan
    decisions: Sequence[Decision]
    costs: StepCosts | None
    """None if nothing was measured."""
    curves: Curves | None = None
    """Speed-up over workers by simulation; None if none was asked for."""
    network: Network | None = None
    """What further machines bring, and cost; None if that was not asked for."""

    def __repr__(self) -> str:
        return f"Planned({self.config!r}, {self.plan.workers} workers)"

    @property
    def expected(self) -> float | None:
        """Seconds of a training step on the plan's workers, at this machine's speed."""
        return None if self.costs is None else replay(self.plan, self.costs)

    @property
    def expected_alone(self) -> float | None:
        """The same on one worker."""
        return None if self.costs is None else replay(self.plan.at(1), self.costs)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "experiment": self.config.name,
            "machine": self.plan.machine,
            "plan": self.plan,
            "reasons": {each.what: each.why for each in self.decisions},
            "warnings": self.plan.warnings,
            "costs": self.costs,
            "expected_step_seconds": self.expected,
            "expected_step_seconds_alone": self.expected_alone,
            "simulated": self.curves,
            "network": self.network,
        }


def plan(
    config: Config | str = "checkerboard",
    overrides: Sequence[str | Override] = (),
    *,
    machine: Machine | str | None = None,
    measure: bool = True,
    simulate: tuple[int, int] | None = None,
    ranks: int | None = None,
    progress: ProgressCallback = ignore,
) -> Planned:
    """Decide how a configuration is trained, on this machine or a described one, and say why.

    `machine` may be written as ``cores=64,l2=1MB,memory=256GB``. Unless `measure` is false, some
    training steps are measured here, on one worker, to predict the time of a step. `simulate`
    replays a step on a range of worker counts, for each strategy, and compares it with measurements
    on one and two. `ranks` estimates up to which network latency that many machines pay off. Raises
    ConfigError for what cannot be planned.
    """
    settings = config if isinstance(config, Config) else load_config(config, overrides)
    where = Machine.parse(machine) if isinstance(machine, str) else machine
    found = ParallelPlan.for_model(settings, where)
    costs = curves = None
    for what, asked in (("a simulation needs", simulate), ("ranks need", ranks)):
        if asked is not None and not measure:
            raise ConfigError(f"{what} measured costs: leave --no-measure out")
    if ranks is not None and not 2 <= ranks <= MOST_RANKS:
        raise ConfigError(f"{ranks} ranks: give 2 to {MOST_RANKS}")
    if simulate is not None and not 1 <= simulate[0] <= simulate[1] <= MOST_CORES:
        raise ConfigError(f"a simulation is for 1 to {MOST_CORES} workers, ascending")
    if measure:
        count = counter(progress, "steps measured:", REPEAT)
        costs = measure_costs(settings, REPEAT, count)
    if simulate is not None and costs is not None:
        count = counter(progress, "steps compared:", COMPARED)
        counts = counts_between(*simulate)
        curves = replay_curves(settings, found, costs, counts, COMPARED, count)
    reckoned = None
    if ranks is not None and costs is not None:
        reckoned = network(settings, costs, ranks, where)
    return Planned(settings, found, explain(settings, found), costs, curves, reckoned)
