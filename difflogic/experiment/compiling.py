"""Compiling a run's kernels: those of a step before the first, those of searches while it trains.

Numba compiles one kernel at a time per process, and caches the code on disk. So a second process
compiles at the same time, where that pays.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.effects import why_not_rectify
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.engine.hard import candidates, detectors, gradients, hard_simulator
from difflogic.engine.hardware import Hardware
from difflogic.engine.kernels.candidates import judge
from difflogic.engine.kernels.detectors import detect
from difflogic.engine.kernels.hard_gradients import differentiate
from difflogic.engine.kernels.rewiring import rewire
from difflogic.engine.kernels.training import train
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import Sharing
from difflogic.proof.convergence import sets
from difflogic.proof.kernels.sets import step
from difflogic.search import rewirer
from difflogic.search.finisher import Finisher
from difflogic.search.rewirer import Rewirer
from difflogic.search.searches import search_of
from difflogic.system.array_types import Array
from difflogic.system.deadline import Deadline
from difflogic.system.jit import JIT, is_compiled, keeps_code
from difflogic.system.work import ignore, may_cancel, tell, undoing
from difflogic.tasks.kernels import lessons
from difflogic.training.optimizer import Learned
from difflogic.training.plan import ParallelPlan

CELL = Grid(1, 1, "zero")
"""Large enough to compile: kernels are the same for all sizes, wirings and tasks."""

GROUPS = "groups of kernels compiled:"
MOST_SECONDS = 600.0
"""A helper that takes longer is ended. It takes about as long as the process that it helps."""
MOST_MEMORY = 2**29
"""Bytes that a helper may take: 340 MB were measured."""


class Compilation:
    """Compiles or loads a run's kernels; `close` it, since a helper may be at work."""

    def __init__(self, config: Config, plan: ParallelPlan, leads: bool) -> None:
        """Only the rank that `leads` compiles the search's kernels.

        Other ranks load these kernels from disk when the first search begins.
        """
        training = config.training
        finishing = config.finishing
        problem = config.problem
        self._training = training
        self._plan = plan
        self._rolls_out = config.parallel.device == "cpu"
        self._helping = ExitStack()
        self.close = self._helping.close
        self._wait: Callable[[], object] = ignore
        self._later: list[Callable[[], object]] = []
        self._done = 0
        self._needed: list[object] = []
        """Kernels of searches that are on disk if all are."""
        self._helped: list[ModuleType] = [hard_simulator]
        """Modules with kernels that a helper compiles, the ones that are called first in front."""
        if problem.task.lessons is not problem.task and not self._step_is_compiled:
            self._helped.append(lessons)
        begins = finishing.every > 0 and finishing.from_epoch <= training.epochs
        if not (leads and begins):
            return
        search = search_of(problem)
        self._needed.append(step)
        self._helped.append(sets)
        if search is Rewirer:
            self._needed.append(rewire)
            self._helped.append(rewirer)
        elif search is Finisher and finishing.candidates > 0:
            self._needed += [judge, differentiate]
            self._helped.append(candidates)
            self._later.append(gradients.load_kernels)
            if finishing.rectify > 0 and why_not_rectify(config) is None:
                self._needed.append(detect)
                self._later.append(detectors.load_kernels)
        self._later.append(self._take_over)

    @property
    def _step_is_compiled(self) -> bool:
        return not self._rolls_out or is_compiled(train, self._training.precision)

    @property
    def needs_compiling(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        return not (self._step_is_compiled and self.search_is_compiled)

    @property
    def search_is_compiled(self) -> bool:
        """Whether all kernels of the run's searches are on disk, or it has none."""
        return all(map(is_compiled, self._needed))

    def begin(self, netlist: Netlist, logits: Array) -> None:
        """Compile or load the kernels of a step. `logits` (16, parameters) are not changed.

        The helper begins with those of the hard simulator, which searches call, too.
        """
        training = self._training
        rollouts = partial(compile_rollouts, netlist, training.precision, self._plan.sharing)
        groups: list[Callable[[], object]] = [rollouts] if self._rolls_out else []
        groups.append(partial(compile_updates, logits, training))
        groups.append(hard_simulator.load_kernels)
        if self.needs_compiling and may_help():
            names = [each.__name__ for each in self._helped]
            self._wait = self._helping.enter_context(helping(names))
        self._compile(groups)

    def complete(self) -> None:
        """Compile or load the kernels of searches, at the first search."""
        groups = self._later
        self._later = []
        if groups:
            self._compile(groups)

    def _take_over(self) -> None:
        """Load what the helper has left on disk, or else compile it here."""
        self._wait()
        for each in self._helped:
            each.load_kernels()

    def _compile(self, groups: Sequence[Callable[[], object]]) -> None:
        told = tell if self.needs_compiling else ignore
        most = self._done + len(groups) + len(self._later)
        with collecting_rarely():
            for group in groups:
                told(GROUPS, self._done, most)
                group()
                self._done += 1
            told(GROUPS, self._done, most)


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
def helping(modules: Sequence[str]) -> Iterator[Callable[[], object]]:
    """Within this context, a second process loads the kernels of some modules, one by one.

    Yields how to wait for its end. These modules should import little.
    """
    root = str(Path(__file__).parents[2])
    code = (
        f"import gc, importlib, sys; gc.disable(); sys.path.insert(0, {root!r})\n"
        "for name in sys.argv[1:]: importlib.import_module(name).load_kernels()"
    )
    words = [sys.executable, "-P", "-c", code, *modules]
    nothing = subprocess.DEVNULL
    deadline = Deadline.after(MOST_SECONDS)
    with subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=nothing) as helper:

        def wait() -> None:
            while helper.poll() is None and not deadline.passed:
                may_cancel()
                with suppress(subprocess.TimeoutExpired):
                    helper.wait(0.1)

        try:
            with undoing(helper.kill):
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


def compile_updates(logits: Array, training: TrainingConfig) -> None:
    """Compile or load the kernels that mix and update `logits` (16, parameters), left unchanged."""
    learned = Learned(logits.copy(), training)
    learned.step(np.zeros_like(learned.mix()))
