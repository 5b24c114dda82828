"""Compiling or loading the kernels of a training step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.engine.compilation import is_cached
from difflogic.engine.hard import HardSimulator, live_parameters
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.system.array_types import Array
from difflogic.training.optimizer import Learned
from difflogic.training.plan import ParallelPlan

Ops = npt.NDArray[np.uint8]

CELL = Grid(1, 1, "zero")
"""Large enough to compile: kernels are the same for all sizes, wirings and tasks."""


def rollouts_are_cached(config: Config, plan: ParallelPlan) -> bool:
    """Whether the kernel of a run's rollouts, if it has one, is compiled on this machine."""
    on_cpu, strategy = config.parallel.device == "cpu", plan.sharing.strategy
    return not on_cpu or is_cached(config.training.precision, strategy, plan.workers)


def compile_rollouts(netlist: Netlist, precision: npt.DTypeLike, sharing: Sharing) -> None:
    """Compile or load the kernel of rollouts and gradients, by one step of one cell."""
    coefficients = np.zeros((netlist.parameters, 4), precision)
    starts = np.zeros((1, netlist.channels, 1, 1), np.uint8)
    with Engine(netlist, CELL, 1, 1, precision, sharing) as engine:
        engine.run_training(coefficients, starts, starts[:, :1], (0,))
        engine.reduce(coefficients)


def compile_steps(netlist: Netlist, logits: Array, training: TrainingConfig) -> Ops:
    """Compile or load the other kernels of a training step; return the hard ops (parameters,).

    `logits` (16, parameters) are not changed.
    """
    learned = Learned(logits.copy(), training)
    learned.step(np.zeros_like(learned.mix()))
    simulator = HardSimulator(netlist, CELL, 1)
    simulator.load(learned.ops)
    simulator.rollout(np.zeros((1, netlist.channels, 1, 1), np.uint8), 1)
    live_parameters(netlist, learned.ops, (0,))
    return learned.ops
