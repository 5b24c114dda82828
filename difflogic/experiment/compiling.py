"""Compiling a run's kernels before they are needed: the first step and search then wait for none.

Numba compiles one kernel at a time per process, and caches the code on disk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.effects import why_not_rectify
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.engine.hard import candidates, detectors, gradients
from difflogic.engine.hard.hard_simulator import HardSimulator, live_parameters
from difflogic.engine.kernels.candidates import judge
from difflogic.engine.kernels.detectors import detect
from difflogic.engine.soft.compilation import is_cached
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import Sharing
from difflogic.proof.convergence.sets import load_kernel
from difflogic.proof.kernels import sets
from difflogic.system.array_types import Array, Bits
from difflogic.system.jit import is_compiled
from difflogic.training.optimizer import Learned
from difflogic.training.plan import ParallelPlan

CELL = Grid(1, 1, "zero")
"""Large enough to compile: kernels are the same for all sizes, wirings and tasks."""


class Compilation:
    """Compiles or loads a run's kernels."""

    def __init__(self, config: Config, plan: ParallelPlan, leads: bool) -> None:
        """Only the rank that `leads` compiles the search's kernels.

        Other ranks load these kernels from disk when the first search begins.
        """
        finishing = config.finishing
        self._config = config
        self._plan = plan
        self._rolls_out = config.parallel.device == "cpu"
        self._searches = leads and finishing.every > 0 and finishing.candidates > 0
        self._rectifies = finishing.rectify > 0 and why_not_rectify(config) is None

    @property
    def needs_compiling(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        precision = self._config.training.precision
        strategy = self._plan.sharing.strategy
        rolls_out = not self._rolls_out or is_cached(precision, strategy, self._plan.workers)
        return not (rolls_out and self._search_is_cached)

    @property
    def _search_is_cached(self) -> bool:
        if not self._searches:
            return True
        needed = (judge, sets.step, *((detect,) if self._rectifies else ()))
        return all(map(is_compiled, needed))

    def compile(self, netlist: Netlist, logits: Array) -> None:
        """Compile or load all kernels. `logits` (16, parameters) are not changed."""
        training = self._config.training
        if self._rolls_out:
            compile_rollouts(netlist, training.precision, self._plan.sharing)
        ops = compile_steps(netlist, logits, training)
        if self._searches:
            compile_candidates(netlist, ops)
            compile_slopes(netlist, ops, self._rectifies)
            load_kernel()


def compile_rollouts(netlist: Netlist, precision: npt.DTypeLike, sharing: Sharing) -> None:
    """Compile or load the kernel of rollouts and gradients, by one step of one cell."""
    coefficients = np.zeros((netlist.parameters, 4), precision)
    starts = np.zeros((1, netlist.channels, 1, 1), np.uint8)
    with Engine(netlist, CELL, 1, 1, precision, sharing) as engine:
        engine.run_training(coefficients, starts, starts[:, :1], (0,))
        engine.reduce(coefficients)


def compile_steps(netlist: Netlist, logits: Array, training: TrainingConfig) -> Bits:
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


def compile_candidates(netlist: Netlist, ops: Bits) -> None:
    """Compile or load the kernels that judge a search's candidates. Any `ops` will do."""
    candidates.load_kernels(HardSimulator(netlist, CELL, 1), ops)


def compile_slopes(netlist: Netlist, ops: Bits, rectifies: bool) -> None:
    """Compile or load the kernels that guide a search, and those of rectification if needed."""
    gradients.load_kernels(netlist, ops)
    if rectifies:
        detectors.load_kernels(netlist, ops)
        read = np.array([netlist.inputs], np.int32)
        hard = gradients.HardGradients(netlist, CELL, 1, 1)
        hard.begin(ops, (0,), read)
        hard.values(np.zeros((1, netlist.channels, 1, 1), np.uint8), read)
