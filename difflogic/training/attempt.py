"""One attempt at learning: a wiring, and the engines that run its circuit."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from difflogic.engine.hard import HardSimulator
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.engine.workers import Workers
from difflogic.model.model import Model


class Attempt:
    """A start model and its engines. A `with` keeps the workers' threads alive, but is optional.

    A run makes a new attempt each time it starts over.
    """

    def __init__(self, number: int, start: Model, engine: Engine, grid: Grid, batch: int) -> None:
        """`engine` trains the circuit of the model `start`; `number` counts from 0."""
        self.number, self.start, self.engine = number, start, engine
        self.single = HardSimulator(start.netlist, grid, 1)
        """Runs one sample, for [pool]."""
        self.hard = HardSimulator(start.netlist, grid, batch)
        """Runs a batch."""
        self.threads: list[Engine | Workers] = [engine]
        self._stack = ExitStack()

    def __enter__(self) -> Attempt:
        with ExitStack() as stack:
            for threads in self.threads:
                stack.enter_context(threads)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)
