"""Samples that start from later states of the hard circuit's own rollout, so that a target stays.

A loss at one step says nothing about the next. "Growing neural cellular automata" (Mordvintsev et
al. 2020) continues from a pool of earlier results, some of them damaged. Here rollouts are
bit-packed and cheap, so each state is computed from the start again. It is never out of date,
nothing is kept from epoch to epoch, and a resumed run uses the same states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Task

Bits = npt.NDArray[np.uint8]

AT_ONCE = 16
"""Samples that each rank computes between two exchanges of their sum."""


Run = Callable[[Bits, int], Bits]
"""Runs the hard circuit: from a state (C, H, W) and a number of steps to the state after them."""


class PoolSample(NamedTuple):
    """A state to start from, and the target to compare it with later."""

    start: Bits
    """Shape (channels, height, width)."""
    target: npt.NDArray[np.float64]
    """Shape (loss channels, height, width)."""
    step: int
    """The step, from `start`, at which it is compared."""


def pool_samples(task: Task, config: Config) -> int:
    """Return how many samples of the pool an epoch has: twice as many once damage is to heal."""
    return config.pool.batch * (2 if task.patches else 1)


def draw_pool(task: Task, config: Config, epoch: int, run: Run) -> Iterator[PoolSample]:
    """Draw an epoch's samples of the pool, if any."""
    for number in range(pool_samples(task, config)):
        yield draw_pool_sample(task, config, epoch, number, run)


def draw_pool_sample(task: Task, config: Config, epoch: int, number: int, run: Run) -> PoolSample:
    """Draw one of an epoch's samples, from a stream of its own."""
    pool, steps = config.pool, config.automaton.steps
    rng = stream(config.training.seed, Purpose.POOL, epoch, number)
    start, target = task.draw(rng)
    state = run(start, steps + int(rng.integers(0, pool.later + 1)))
    step = int(rng.integers(1, pool.steps + 1))
    patches = [None, *task.patches.values()]
    places = patches[rng.integers(0, len(patches))]
    if places is not None:
        step += steps
        channels = list(task.loss_channels)

        def is_wrong(state: Bits) -> bool:
            return bool((abs(run(state, step)[channels] - target) > 0.5).any())

        state = _damaged(state, places, pool.damage_tries, is_wrong, rng)
    return PoolSample(state, target, step)


def _damaged(
    state: Bits,
    places: Bits,
    tries: int,
    is_wrong: Callable[[Bits], bool],
    rng: np.random.Generator,
) -> Bits:
    """Return the first of `tries` damaged states that does not grow back, or the last of them.

    Once most damages grow back, a random one teaches nothing.
    """
    for left in reversed(range(tries)):
        damaged = state * (1 - places[rng.integers(0, len(places))])
        if not left or is_wrong(damaged):
            break
    return damaged
