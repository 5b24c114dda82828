"""Samples that start from later states of the hard circuit's own rollout, so that a target stays.

A loss at one step says nothing about the next. "Growing neural cellular automata" (Mordvintsev et
al. 2020) continues from a pool of earlier results, some of them damaged. Here rollouts are
bit-packed and cheap, so each state is computed from the start again. It is never out of date,
nothing is kept from epoch to epoch, and a resumed run uses the same states.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Boundary
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine import oracle
from difflogic.engine.hard import HardSimulator
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Task

Array = npt.NDArray[Any]
Bits = npt.NDArray[np.uint8]

AT_ONCE = 16
"""Samples that each rank computes between two exchanges of their sum."""


class Runs(Protocol):
    """Runs the hard circuit, synchronously."""

    def is_wrong(self, start: Bits, target: Array, step: int) -> bool:
        """Whether a bit differs from `target` (loss channels, H, W) after `step` steps."""

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) after `steps` steps from `start`."""


class PoolSample(NamedTuple):
    """A state to start from, and the target to compare it with later."""

    start: Bits
    """Shape (channels, height, width)."""
    target: npt.NDArray[np.float64]
    """Shape (loss channels, height, width)."""
    step: int
    """The step, from `start`, at which it is compared."""


def draw_pool(task: Task, config: Config, epoch: int, runs: Runs) -> Iterator[PoolSample]:
    """Draw an epoch's samples of the pool, if any."""
    for number in range(config.pool.batch):
        yield draw_pool_sample(task, config, epoch, number, runs)


def draw_pool_sample(task: Task, config: Config, epoch: int, number: int, runs: Runs) -> PoolSample:
    """Draw one of an epoch's samples, from a stream of its own."""
    pool, steps = config.pool, config.automaton.steps
    rng = stream(config.training.seed, Purpose.POOL, epoch, number)
    start, target = task.draw(rng)
    state = runs.state(start, steps + int(rng.integers(0, pool.later + 1)))
    step = int(rng.integers(1, pool.steps + 1))
    patches = [None, *task.patches.values()]
    places = patches[rng.integers(0, len(patches))]
    if places is not None:
        step += steps
        state = _damaged(state, places, target, step, pool.damage_tries, runs, rng)
    return PoolSample(state, target, step)


def _damaged(
    state: Bits,
    places: Bits,
    target: Array,
    step: int,
    tries: int,
    runs: Runs,
    rng: np.random.Generator,
) -> Bits:
    """Return a damaged state: the first of `tries` that has not grown back by `step`, or the last.

    Once most damages grow back, a random one teaches nothing.
    """
    for left in reversed(range(tries)):
        damaged = state * (1 - places[rng.integers(0, len(places))])
        if not left or runs.is_wrong(damaged, target, step):
            break
    return damaged


class HardRuns:
    """Runs the circuit that a simulator of one sample has loaded."""

    def __init__(self, simulator: HardSimulator, channels: list[int]) -> None:
        """`channels` are the loss channels."""
        self._simulator, self._channels = simulator, channels

    def is_wrong(self, start: Bits, target: Array, step: int) -> bool:
        """Whether a bit differs from `target` (loss channels, H, W) after `step` steps."""
        shown = self.state(start, step)[self._channels]
        return bool((shown != target).any())

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) after `steps` steps from `start`."""
        return self._simulator.rollout(start[None], steps)[0]


class OracleRuns:
    """Runs a circuit in plain NumPy."""

    def __init__(
        self, netlist: Netlist, hard: Array, boundary: Boundary, channels: list[int]
    ) -> None:
        """`hard` are the coefficients (parameters, 4) of its ops, `channels` the loss channels."""
        self._netlist, self._hard, self._boundary = netlist, hard, boundary
        self._channels = channels

    def is_wrong(self, start: Bits, target: Array, step: int) -> bool:
        """Whether a bit differs from `target` (loss channels, H, W) after `step` steps."""
        return bool((self.state(start, step)[self._channels] != target).any())

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) after `steps` steps from `start`."""
        last = oracle.rollout(self._netlist, self._hard, start, steps, self._boundary)[-1]
        return last.astype(np.uint8)
