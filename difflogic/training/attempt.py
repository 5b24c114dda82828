"""One attempt at learning: a wiring, and the engines that run and check its circuit."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from difflogic.config import Config
from difflogic.engine.hard import HardSimulator
from difflogic.engine.rollout import Engine
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan, is_deterministic
from difflogic.evaluation.scene import Streams, grid_of
from difflogic.model.model import Model
from difflogic.search.finishing import Finisher
from difflogic.search.search import GradientSensitivity
from difflogic.search.verifying import ROUND
from difflogic.system.streams import Purpose
from difflogic.tasks import make_task
from difflogic.training.plan import ParallelPlan


class Attempt:
    """A start model and its engines. A `with` keeps the workers' threads alive, but is optional.

    A run makes a new attempt each time it starts over.
    """

    def __init__(
        self, config: Config, number: int, start: Model, plan: ParallelPlan, engine: Engine
    ) -> None:
        """`engine` trains the circuit of the model `start`; `number` counts from 0."""
        grid, netlist = grid_of(config), start.netlist
        self.number, self.start, self.engine = number, start, engine
        self.single = HardSimulator(netlist, grid, 1)
        """Runs one sample, for [pool]."""
        self.hard = HardSimulator(netlist, grid, config.training.batch)
        """Runs a batch."""
        self.finisher: Finisher | None = None
        """Searches for exact circuits; None if [finishing] is off."""
        self._threads: list[Engine | Workers] = [self.engine]
        if config.finishing.every:
            workers, checks = Workers(plan.search_workers), _plan_of_checks(config)
            sensitivity = GradientSensitivity(netlist, checks, config.automaton.steps)
            self.finisher = Finisher(netlist, checks, config.finishing, sensitivity, workers)
            self._threads.append(workers)
        self._stack = ExitStack()

    def __enter__(self) -> Attempt:
        with ExitStack() as stack:
            for threads in self._threads:
                stack.enter_context(threads)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)


def _plan_of_checks(config: Config) -> Plan:
    task = make_task(config)
    streams = Streams(config.training.seed, Purpose.CHECK_START, Purpose.CHECK_MASK)
    if task.each:
        return Plan.of(config, ROUND, streams)
    if task.patches:
        return Plan.healing(task, streams)
    if task.holds and is_deterministic(task):
        return Plan.holding(task, streams)
    return Plan.of(config, ROUND, streams)
