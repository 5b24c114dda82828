"""Compiling a run's kernels before they are needed, in part in a helper process.

Numba compiles one kernel at a time per process, and caches the code on disk. So a second process
can compile while this one does, and this one then loads the code. The helper compiles first what a
training step needs besides rollouts, then the kernels of the search, while training runs already.
If the helper ends early, for any reason, this process compiles the rest.
"""

from __future__ import annotations

import gc
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.config.effects import why_not_rectify
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.engine import candidates, detectors, hard_gradients
from difflogic.engine.compilation import is_cached
from difflogic.engine.hard import HardSimulator, live_parameters
from difflogic.engine.kernels.candidates import judge
from difflogic.engine.kernels.detectors import detect
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.system.array_types import Array, Bits
from difflogic.system.callbacks import never_stop
from difflogic.system.jit import JIT, is_compiled, keeps_code
from difflogic.system.jit.cache import SAVING
from difflogic.system.machine import cpu_count
from difflogic.system.programs import isolated
from difflogic.training.optimizer import Learned
from difflogic.training.plan import ParallelPlan

Stage = Literal["steps", "search"]

CELL = Grid(1, 1, "zero")
"""Large enough to compile: kernels are the same for all sizes, wirings and tasks."""

HELPER_SECONDS = 1800
"""Limit of the helper's run time; it usually takes about ten seconds of a core."""

CLOSING_SECONDS = 10
"""Time for the helper to finish writing a file before it is killed."""

OBJECTS = 50_000
"""New objects before Python collects garbage, as in cli/entry.py: compiling keeps most objects."""

POLL_SECONDS = 0.1
"""Time between two calls of `should_stop`."""


class Compilation:
    """Compiles or loads a run's kernels, with a helper process where that pays."""

    def __init__(self, config: Config, plan: ParallelPlan, leads: bool) -> None:
        """Only the rank that `leads` has a helper and compiles the search's kernels.

        Other ranks load these kernels from disk when the first search begins.
        """
        finishing = config.finishing
        self._config, self._plan, self._leads = config, plan, leads
        self._rolls_out = config.parallel.device == "cpu"
        self._searches = leads and finishing.every > 0 and finishing.candidates > 0
        self._rectifies = finishing.rectify > 0 and why_not_rectify(config) is None
        self._helper: HelperProcess | None = None

    @property
    def needs_compiling(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        return not (rollouts_are_cached(self._config, self._plan) and self._search_is_cached)

    @property
    def _search_is_cached(self) -> bool:
        if not self._searches:
            return True
        return is_compiled(judge) and (not self._rectifies or is_compiled(detect))

    @property
    def is_helped(self) -> bool:
        """Whether the helper process runs."""
        return self._helper is not None

    def compile(self, netlist: Netlist, logits: Array, may_help: bool, meanwhile: bool) -> None:
        """Compile or load all kernels; with `meanwhile`, at least those of training steps.

        With `may_help`, a helper process may be started: the caller must then `stop` it.
        `logits` (16, parameters) are not changed.
        """
        found, training = rollouts_are_cached(self._config, self._plan), self._config.training
        if may_help and self._leads and self.needs_compiling:
            self._helper = start_helper(training.precision)
        try:
            if self._rolls_out:
                compile_rollouts(netlist, training.precision, self._plan.sharing)
            if self._helper is not None and not found:
                self._helper.wait("steps")
            compile_steps(netlist, logits, training)
            if self._helper is None:
                self._compile_search(netlist)
            elif not meanwhile:
                self.complete(netlist)
        except BaseException:
            self.stop()
            raise

    def complete(self, netlist: Netlist, should_stop: Callable[[], bool] = never_stop) -> bool:
        """Compile the rest, wait for the helper, and load its code.

        Returns False if `should_stop` returned True before or during the wait.
        """
        if self._helper is None:
            return True
        if should_stop():
            return False
        if self._searches:
            compile_slopes(netlist, _any_ops(netlist), self._rectifies)
        if self._helper.wait("search", should_stop) is None:
            return False
        self.stop()
        self._compile_search(netlist)
        return True

    def _compile_search(self, netlist: Netlist) -> None:
        if self._searches:
            ops = _any_ops(netlist)
            compile_candidates(netlist, ops)
            compile_slopes(netlist, ops, self._rectifies)

    def stop(self) -> None:
        """End the helper process, if it runs."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()


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


def _any_ops(netlist: Netlist) -> Bits:
    return np.zeros(netlist.parameters, np.uint8)


def compile_candidates(netlist: Netlist, ops: Bits) -> None:
    """Compile or load the kernels that judge a search's candidates. Any `ops` will do."""
    candidates.load_kernels(HardSimulator(netlist, CELL, 1), ops)


def compile_slopes(netlist: Netlist, ops: Bits, rectifies: bool) -> None:
    """Compile or load the kernels that guide a search, and those of rectification if needed."""
    hard_gradients.load_kernels(netlist, ops)
    if rectifies:
        detectors.load_kernels(netlist, ops)
        read = np.array([netlist.inputs], np.int32)
        hard = hard_gradients.HardGradients(netlist, CELL, 1, 1)
        hard.begin(ops, (0,), read)
        hard.values(np.zeros((1, netlist.channels, 1, 1), np.uint8), read)


class HelperProcess:
    """Compiles in another process, which runs until `close` or until this process ends."""

    def __init__(self, precision: str) -> None:
        """Raises OSError if the process cannot be started."""
        # It ignores Ctrl-C; this process handles that, and ends the helper.
        program = (
            "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            f"from {__name__} import compile_for_parent\ncompile_for_parent({precision!r})"
        )
        self._compiled: dict[str, Future[bool]] = {stage: Future() for stage in get_args(Stage)}
        self._process = subprocess.Popen(
            isolated(program),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
            errors="replace",
        )
        self._limit = threading.Timer(HELPER_SECONDS, self._process.kill)
        self._limit.daemon = True
        self._limit.start()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() in self._compiled:
                self._compiled[line.strip()].set_result(True)
        for stage in self._compiled.values():
            if not stage.done():
                stage.set_result(False)

    def wait(self, stage: Stage, should_stop: Callable[[], bool] = never_stop) -> bool | None:
        """Wait until a stage is compiled or the process has ended; return whether it is compiled.

        Calls `should_stop` repeatedly, and returns None once that returns True.
        """
        while not self._compiled[stage].done():
            if should_stop():
                return None
            futures.wait([self._compiled[stage]], POLL_SECONDS)
        return self._compiled[stage].result()

    def close(self) -> None:
        """End the process."""
        self._limit.cancel()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSING_SECONDS)
        self._process.kill()
        self._reader.join()
        self._process.__exit__(None, None, None)


def start_helper(precision: str) -> HelperProcess | None:
    """Start the process, or return None without a spare core or a cache for the code."""
    if not JIT or cpu_count() < 2 or not keeps_code():
        return None
    try:
        return HelperProcess(precision)
    except OSError:
        return None


def compile_for_parent(precision: str) -> None:
    """Compile all stages as the helper process, and print the name of each when it is done.

    Ends when standard input does, which happens when the parent process ends in any way.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    gc.set_threshold(OBJECTS)
    for stage in compile_stages(precision):
        print(stage, flush=True)


def compile_stages(precision: str) -> Iterator[Stage]:
    """Compile or load the stages in turn, and yield the name of each when it is done."""
    from difflogic.config import load_config
    from difflogic.model.model import Model

    # The kernels are the same for every experiment.
    config = load_config("checkerboard-small", [f"training.precision={precision}"])
    model = Model.create(config)
    ops = compile_steps(model.netlist, model.logits.T.astype(precision, "C"), config.training)
    yield "steps"
    compile_candidates(model.netlist, ops)
    yield "search"


def _end_with_input() -> None:
    # Not by sys.stdin: at exit Python would wait for its reader.
    while os.read(0, 1):
        pass
    with SAVING:
        os._exit(0)
