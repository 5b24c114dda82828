"""Samples that start from later states of the hard circuit's own rollout, so that a target stays.

A loss at one step says nothing about the next. "Growing neural cellular automata" (Mordvintsev et
al. 2020) continues from a pool of earlier results, some of them damaged. Here rollouts are
bit-packed and cheap, so each state is computed from the start again. Therefore states are never out
of date, nothing is kept between epochs, and a resumed run uses the same states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from difflogic.config.problem import Problem
from difflogic.system.array_types import Bits, Float64s
from difflogic.system.streams import Purpose, stream

SAMPLES_AT_ONCE = 16
"""Samples that each rank computes between two exchanges of their sum."""

Run = Callable[[Bits, int], Bits]
"""Runs the hard circuit: takes a state (C, H, W) and a number of steps, returns the last state."""


class PoolSample(NamedTuple):
    """A state to start from, and the target of a later step."""

    start: Bits
    """Shape (channels, height, width)."""
    target: Float64s
    """Shape (loss channels, height, width)."""
    step: int
    """Number of steps from `start` to the target."""


def pool_samples(problem: Problem) -> int:
    """Return the number of pool samples per epoch, twice the batch if damage has to heal."""
    return problem.pool.batch * (2 if problem.task.damages else 1)


def pool_steps(problem: Problem) -> int:
    """Return the most steps that a sample of [pool] is rolled out; 0 without a pool."""
    if not problem.pool.batch:
        return 0
    return problem.pool.steps + (problem.automaton.steps if problem.task.damages else 0)


def draw_pool(problem: Problem, epoch: int, run: Run) -> Iterator[PoolSample]:
    """Draw all pool samples of an epoch."""
    for number in range(pool_samples(problem)):
        yield draw_pool_sample(problem, epoch, number, run)


def draw_pool_sample(problem: Problem, epoch: int, number: int, run: Run) -> PoolSample:
    """Draw one pool sample of an epoch, from its own random stream."""
    task = problem.task
    pool = problem.pool
    steps = problem.automaton.steps
    rng = stream(problem.training.seed, Purpose.POOL, epoch, number)
    start, target = task.draw(rng)
    state = run(start, steps + int(rng.integers(0, pool.later + 1)))
    step = int(rng.integers(1, pool.steps + 1))
    patches = [None, *task.patches.values()]
    places = patches[rng.integers(0, len(patches))]
    if places is None:
        return PoolSample(state, target, step)
    step += steps
    channels = list(task.loss_channels)
    # Most damage heals by itself later in training, and teaches nothing: prefer one that does not.
    for tries_left in reversed(range(pool.damage_tries)):
        damaged = state * (1 - places[rng.integers(0, len(places))])
        if not tries_left or (abs(run(damaged, step)[channels] - target) > 0.5).any():
            break
    return PoolSample(damaged, target, step)
