"""When a run's kernels are compiled, and in which process."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.config.applying import why_not_rectify
from difflogic.engine.compilation import is_cached, is_rectification_cached, is_search_cached
from difflogic.engine.plan import ParallelPlan
from difflogic.system.callbacks import never_stop
from difflogic.training import helper_process
from difflogic.training.warming import (
    Array,
    Ops,
    compile_candidates,
    compile_rollouts,
    compile_slopes,
    compile_steps,
)


class Compilation:
    """Compiles or loads a run's kernels, with a helper process where that pays."""

    def __init__(self, config: Config, plan: ParallelPlan, leads: bool) -> None:
        """Only the rank that `leads` has a helper and compiles the search's kernels.

        The others load them from disk when the first search begins.
        """
        finishing = config.finishing
        self._training, self._plan, self._leads = config.training, plan, leads
        self._rolls_out = config.parallel.device == "cpu"
        self._searches = leads and finishing.every > 0 and finishing.candidates > 0
        self._rectifies = finishing.rectify > 0 and why_not_rectify(config) is None
        self._helper: helper_process.HelperProcess | None = None

    @property
    def cold(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        return not (self._rollouts_are_cached and self._search_is_cached)

    @property
    def _search_is_cached(self) -> bool:
        if not self._searches:
            return True
        return is_search_cached() and (not self._rectifies or is_rectification_cached())

    @property
    def _rollouts_are_cached(self) -> bool:
        strategy = self._plan.sharing.strategy
        return not self._rolls_out or is_cached(
            self._training.precision, strategy, self._plan.workers
        )

    @property
    def is_helped(self) -> bool:
        """Whether the helper process is still compiling."""
        return self._helper is not None

    def compile(self, netlist: Netlist, logits: Array, may_help: bool, meanwhile: bool) -> None:
        """Compile or load all kernels; with `meanwhile`, at least those of training steps.

        A helper process is started only if it `may_help`: the caller must then `stop` it.
        `logits` (16, parameters) are not changed.
        """
        found, training = self._rollouts_are_cached, self._training
        if may_help and self._leads and self.cold:
            self._helper = helper_process.start(training.precision)
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

    def complete(
        self, netlist: Netlist, should_stop: Callable[[], bool] = never_stop
    ) -> float | None:
        """Compile the rest, wait for the helper, and load what it compiled; return the seconds.

        Returns None if `should_stop` returned True before or during the wait.
        """
        if self._helper is None:
            return 0.0
        start = time.perf_counter()
        if should_stop():
            return None
        if self._searches:
            compile_slopes(netlist, _no_ops(netlist), self._rectifies)
        if self._helper.wait("search", should_stop) is None:
            return None
        self.stop()
        self._compile_search(netlist)
        return time.perf_counter() - start

    def _compile_search(self, netlist: Netlist) -> None:
        if self._searches:
            ops = _no_ops(netlist)
            compile_candidates(netlist, ops)
            compile_slopes(netlist, ops, self._rectifies)

    def stop(self) -> None:
        """End the helper process, if it runs."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()


def _no_ops(netlist: Netlist) -> Ops:
    return np.zeros(netlist.parameters, np.uint8)
