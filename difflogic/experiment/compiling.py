"""Compiling a run's kernels before they are needed: the first step and search then wait for none.

Numba compiles one kernel at a time per process, and caches the code on disk. So a second process
compiles those of searches at the same time, where that pays.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.effects import why_not_rectify
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.engine.hard import candidates, detectors, gradients
from difflogic.engine.hard.hard_simulator import HardSimulator, live_parameters
from difflogic.engine.hardware import Hardware
from difflogic.engine.kernels.candidates import judge
from difflogic.engine.kernels.detectors import detect
from difflogic.engine.kernels.training import train
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import Sharing
from difflogic.proof.convergence.sets import load_kernel
from difflogic.proof.kernels import sets
from difflogic.system.array_types import Array, Bits
from difflogic.system.jit import JIT, is_compiled, keeps_code
from difflogic.system.work import ignore, tell
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
        rolls_out = not self._rolls_out or is_compiled(train, precision)
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
        rollouts = partial(compile_rollouts, netlist, training.precision, self._plan.sharing)
        groups: list[Callable[[], object]] = [rollouts] if self._rolls_out else []
        groups.append(partial(compile_steps, netlist, logits, training))
        if self._searches:
            groups += [load_kernel, partial(compile_slopes, netlist, self._rectifies)]
            # Last comes what a helper leaves on disk, or else is compiled here.
            groups.append(candidates.load_kernels)
        told = tell if self.needs_compiling else ignore
        helped = self._searches and not self._search_is_cached and may_help()
        with collecting_rarely(), helping() if helped else nullcontext(ignore) as wait:
            for number, group in enumerate(groups):
                told(GROUPS, number, len(groups))
                if group is groups[-1]:
                    wait()
                group()


GROUPS = "groups of kernels compiled:"
MOST_SECONDS = 600.0
"""A helper that takes longer is ended. It takes about as long as the process that it helps."""
MOST_MEMORY = 2**29
"""Bytes that a helper may take: 340 MB were measured."""


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let Python look for garbage rarely: a compiler makes millions of objects, and keeps most.

    Looking took a tenth of the processor time, and saved 16 of 340 MB.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def may_help() -> bool:
    """Return whether a second process may compile: there is a core, memory and a place for code."""
    machine = Hardware.here()
    room = machine.memory is None or machine.memory > MOST_MEMORY
    return JIT and machine.cores > 1 and room and keeps_code() and not hasattr(sys, "frozen")


@contextmanager
def helping() -> Iterator[Callable[[], object]]:
    """Within this context, a second process compiles the largest kernels; yield how to wait for it.

    It imports little, and nothing but the kernels that judge a search's candidates.
    """
    root = str(Path(__file__).parents[2])
    code = (
        f"import gc, sys; gc.disable(); sys.path.insert(0, {root!r})\n"
        "from difflogic.engine.hard.candidates import load_kernels\n"
        "load_kernels()"
    )
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdin=nothing, stdout=nothing, stderr=nothing
    ) as helper:

        def wait() -> None:
            with suppress(subprocess.TimeoutExpired):
                helper.wait(MOST_SECONDS)

        try:
            yield wait
        finally:
            helper.kill()


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


def compile_slopes(netlist: Netlist, rectifies: bool) -> None:
    """Compile or load the kernels that guide a search, and those of rectification if needed."""
    ops = np.zeros(netlist.parameters, np.uint8)
    gradients.load_kernels(netlist, ops)
    if rectifies:
        detectors.load_kernels(netlist, ops)
        read = np.array([netlist.inputs], np.int32)
        hard = gradients.HardGradients(netlist, CELL, 1, 1)
        hard.begin(ops, (0,), read)
        hard.values(np.zeros((1, netlist.channels, 1, 1), np.uint8), read)
