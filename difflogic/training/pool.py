"""Samples that start where the hard circuit's own run comes to, so that its target stays.

A loss at one step says nothing of the next. "Growing neural cellular automata" (Mordvintsev et al.
2020) goes on from a pool of earlier results, some of them damaged. Here the run is cheap, being
bit-packed, so each such state is run anew from the start: it is never out of date, there is nothing
to keep from epoch to epoch, and a resumed run goes on with the same states. It is followed as long
as it shows as much of the target as is asked for, which may be nothing.
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
"""Samples that each rank does before their sum goes from rank to rank."""


class Runs(Protocol):
    """Runs the hard circuit, synchronously."""

    def wrong(self, start: Bits, target: Array, at: range) -> Array:
        """Return how many bits differ from `target` (loss channels, H, W) after each of `at`."""

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) that so many steps lead to from `start`."""


class PoolSample(NamedTuple):
    """A state to go on from, and when it is compared with what."""

    start: Bits
    """Shape (channels, height, width)."""
    target: npt.NDArray[np.float64]
    """Shape (loss channels, height, width)."""
    step: int
    """After so many further steps."""


def draw_pool(
    task: Task, config: Config, epoch: int, since: int, runs: Runs
) -> Iterator[PoolSample]:
    """Draw an epoch's samples of the pool, which began at epoch `since`; there may be none."""
    for number in range(config.pool.batch):
        sample = draw_pool_sample(task, config, epoch, since, number, runs)
        if sample is not None:
            yield sample


def draw_pool_sample(
    task: Task, config: Config, epoch: int, since: int, number: int, runs: Runs
) -> PoolSample | None:
    """Draw one of an epoch's samples, from a stream of its own; None if its target is lost."""
    pool, steps = config.pool, config.automaton.steps
    rng = stream(config.training.seed, Purpose.POOL, epoch, number)
    start, target = task.draw(rng)
    wrong = runs.wrong(start, target, range(steps, steps + pool.later + 1))
    lost = np.flatnonzero(wrong > pool.tolerance * target.size)
    usable = lost[0] if len(lost) else len(wrong)
    if not usable:
        return None
    state = runs.state(start, steps + int(rng.integers(0, usable)))
    step = int(rng.integers(1, pool.steps + 1))
    if epoch - since >= pool.damage_from:
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
    """Return a damaged state: the first of so many that has not grown back by `step`, or the last.

    Once most damages do grow back, one that is drawn by lot teaches nothing.
    """
    for left in reversed(range(tries)):
        damaged = state * (1 - places[rng.integers(0, len(places))])
        if not left or runs.wrong(damaged, target, range(step, step + 1)).any():
            break
    return damaged


class HardRuns:
    """Runs the circuit that a simulator of one sample has loaded."""

    def __init__(self, simulator: HardSimulator, channels: list[int]) -> None:
        """`channels` are the loss channels."""
        self._simulator, self._channels = simulator, channels

    def wrong(self, start: Bits, target: Array, at: range) -> Array:
        """Return how many bits differ from `target` (loss channels, H, W) after each of `at`."""
        simulator = self._simulator
        script = simulator.script(at[-1], at=at, targets=target[None], channels=self._channels)
        simulator.state[:] = simulator.pack_states(start[None])
        return simulator.run(script)[:, 0]

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) that so many steps lead to from `start`."""
        return self._simulator.rollout(start[None], steps)[0]


class OracleRuns:
    """Runs a circuit in plain NumPy."""

    def __init__(
        self, netlist: Netlist, hard: Array, boundary: Boundary, channels: list[int]
    ) -> None:
        """`hard` are the coefficients (parameters, 4) of its ops, `channels` the loss channels."""
        self._netlist, self._hard, self._boundary = netlist, hard, boundary
        self._channels = channels

    def wrong(self, start: Bits, target: Array, at: range) -> Array:
        """Return how many bits differ from `target` (loss channels, H, W) after each of `at`."""
        states = oracle.rollout(self._netlist, self._hard, start, at[-1], self._boundary)
        return np.array([(states[step][self._channels] != target).sum() for step in at])

    def state(self, start: Bits, steps: int) -> Bits:
        """Return the state (C, H, W) that so many steps lead to from `start`."""
        last = oracle.rollout(self._netlist, self._hard, start, steps, self._boundary)[-1]
        return last.astype(np.uint8)
