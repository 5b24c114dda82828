"""Compiling the kernels of a training run, by calling them.

One cell and one step are enough: the kernels are the same for every size, wiring and task. They
depend only on the precision, the form of gates and the strategy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.config import TrainingConfig
from difflogic.engine import candidates, detectors, hard_gradients
from difflogic.engine.hard import HardSimulator, live_parameters
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.training.optimizer import AdamW, SoftGates

Array = npt.NDArray[Any]
Ops = npt.NDArray[np.uint8]

CELL = Grid(1, 1, "zero")


def compile_rollouts(netlist: Netlist, precision: npt.DTypeLike, sharing: Sharing) -> None:
    """Compile or load the kernel of rollouts and gradients."""
    coefficients = np.zeros((netlist.parameters, 4), precision)
    starts = np.zeros((1, netlist.channels, 1, 1), np.uint8)
    with Engine(netlist, CELL, 1, 1, precision, sharing) as engine:
        engine.run_training(coefficients, starts, starts[:, :1], (0,))
        engine.reduce(coefficients)


def compile_steps(netlist: Netlist, logits: Array, training: TrainingConfig) -> Ops:
    """Compile or load what else a training step calls; return the hard ops (parameters,).

    `logits` (16, parameters) are not changed.
    """
    soft, copied = SoftGates(logits.shape[1], logits.dtype), logits.copy()
    gradients = np.zeros_like(soft.mix(copied))
    AdamW(copied, training).step(soft.probabilities, gradients)
    simulator = HardSimulator(netlist, CELL, 1)
    simulator.load(soft.ops)
    simulator.rollout(np.zeros((1, netlist.channels, 1, 1), np.uint8), 1)
    live_parameters(netlist, soft.ops, (0,))
    return soft.ops


def compile_candidates(netlist: Netlist, ops: Ops) -> None:
    """Compile or load the kernels that judge a search's candidates. Any `ops` will do."""
    candidates.warm_up(HardSimulator(netlist, CELL, 1), ops)


def compile_slopes(netlist: Netlist, ops: Ops, rectifies: bool) -> None:
    """Compile or load what tells a search where to look, also if it `rectifies`."""
    hard_gradients.warm_up(netlist, ops)
    if rectifies:
        detectors.warm_up(netlist, ops)
        read = np.array([netlist.inputs], np.int32)
        hard = hard_gradients.HardGradients(netlist, CELL, 1, 1)
        hard.begin(ops, (0,), read)
        hard.values(np.zeros((1, netlist.channels, 1, 1), np.uint8), read)
