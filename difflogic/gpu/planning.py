"""What a GPU is to do for a run, and whether it can: `dct plan --device gpu`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from difflogic.circuit.forms import FORMS
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.gpu.adapter import Adapter, find_adapter
from difflogic.gpu.kernels import THREADS
from difflogic.gpu.tables import LANES, Shape, levels, shape_of
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError

MOST_RUNS = 256
"""Side by side, unless more are asked for: each has a thread of its own."""


@dataclass(frozen=True)
class Kernel:
    """What a kernel does in a training step of one run."""

    name: str
    dispatches: int
    groups: int
    """Workgroups of each dispatch."""
    workgroup_bytes: int
    barriers: int
    """That a workgroup passes in a dispatch."""
    operations: int
    """Multiplications and additions of all dispatches; a fused one counts as two."""


@dataclass(frozen=True)
class DevicePlan:
    """A run's shape on an adapter."""

    adapter: Adapter
    shape: Shape
    kernels: tuple[Kernel, ...]

    @classmethod
    def of(cls, config: Config) -> DevicePlan:
        """Plan a configuration on this machine's GPU. Raises ConfigError without one."""
        netlist = Model.create(config).netlist
        shape = shape_for(config, netlist)
        return cls(find_adapter(), shape, kernels(shape, netlist))

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
            "kernels": [vars(each) for each in self.kernels],
        }


def shape_for(config: Config, netlist: Netlist | None = None) -> Shape:
    """Return the shape of a configuration's runs."""
    netlist = netlist or Model.create(config).netlist
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


def kernels(shape: Shape, netlist: Netlist) -> tuple[Kernel, ...]:
    """Count what each kernel does for the gates that outputs depend on."""
    level = levels(netlist)
    gates, deepest = int(np.count_nonzero(level)), int(level.max())
    cells = shape.tiles * LANES
    evaluated = 6 * gates * cells
    # A gate passes on to each input by a multiply-add and another, and has four sums.
    back = evaluated + gates * cells * (2 * 4 + 6)
    parameters = -(-shape.parameters // THREADS)
    checked = shape.batch * shape.grid.cells * shape.loss_channels
    # Softmax: an exponential of 9 multiply-adds, four coefficients, a division.
    mixed, moved = 16 * (18 + 8 + 2) * shape.parameters, 16 * (2 * 9 + 14) * shape.parameters
    return (
        Kernel("mix", 1, parameters, 0, 0, mixed),
        Kernel("forward", shape.steps, shape.tiles, 0, deepest + 1, evaluated * shape.steps),
        Kernel("loss", 1, shape.batch, 4 * THREADS, 1 + THREADS.bit_length() - 1, 3 * checked),
        Kernel("backward", shape.steps, shape.tiles, 0, 2 * deepest + 1, back * shape.steps),
        Kernel("reduce", 1, -(-shape.gates // THREADS), 0, 0, 4 * shape.tiles * shape.gates),
        Kernel("share", 1, parameters, 0, 0, 4 * shape.gates),
        Kernel("learn", 1, parameters, 0, 0, moved),
    )


def require_fitting(config: Config) -> DevicePlan:
    """Return a configuration's plan. Raises ConfigError, with the least that would do."""
    if config.training.precision != "float32":
        raise ConfigError("[training] precision: a GPU computes in float32: use --device cpu")
    found = DevicePlan.of(config)
    found.adapter.require(found.shape, 1)
    return found
