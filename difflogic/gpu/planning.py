"""What a GPU is to do for a run, and whether it can: `dct plan --device gpu`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from difflogic.circuit.forms import FORMS
from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.gpu.adapter import Adapter, find_adapter
from difflogic.gpu.kernels import THREADS
from difflogic.gpu.tables import LANES, Shape, shape_of
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError

MOST_RUNS = 256
"""Side by side, unless more are asked for: each has a thread of its own."""


@dataclass(frozen=True)
class DevicePlan:
    """A run's shape on an adapter."""

    adapter: Adapter
    shape: Shape

    @classmethod
    def of(cls, config: Config) -> DevicePlan:
        """Plan a configuration on this machine's GPU. Raises ConfigError without one."""
        return cls(find_adapter(), shape_for(config))

    @property
    def runs(self) -> int:
        """Runs that fit side by side; 0 if not even one does."""
        return self.adapter.most_runs(self.shape)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "adapter": self.adapter.name,
            "kind": self.adapter.kind,
            "limits": self.adapter.limits,
            "groups": self.shape.tiles,
            "threads_per_group": THREADS,
            "cells_per_group": LANES,
            "bytes_per_run": self.shape.bytes,
            "runs_side_by_side": self.runs,
        }


def shape_for(config: Config) -> Shape:
    """Return the shape of a configuration's runs."""
    netlist = Model.create(config).netlist
    rollouts = ParallelPlan.for_model(config, netlist=netlist).rollouts
    numbers = 16 if FORMS[config.training.form](config.training.initial_logit) is None else 4
    batch, losses = config.training.batch, rollouts.loss_channels
    return shape_of(netlist, rollouts.grid, rollouts.steps, batch, losses, numbers)


def runs_at_a_time(configs: list[Config], asked: int | None, runs: int) -> int:
    """Return how many of a sweep's runs train side by side, by default as many as fit.

    Raises ConfigError if not even one of each fits, or not as many as `asked`.
    """
    adapter = find_adapter()
    shapes = [shape_for(config) for config in configs]
    for shape in shapes:
        adapter.require(shape, asked or 1)
    return min(runs, asked or min(MOST_RUNS, *(adapter.most_runs(shape) for shape in shapes)))


def require_fitting(config: Config) -> DevicePlan:
    """Return a configuration's plan. Raises ConfigError, with the least that would do."""
    if config.training.precision != "float32":
        raise ConfigError("[training] precision: a GPU computes in float32: use --device cpu")
    found = DevicePlan.of(config)
    found.adapter.require(found.shape, 1)
    return found
