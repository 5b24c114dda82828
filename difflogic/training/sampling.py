"""What an epoch trains on: its attempt, samples, masks, and the steps with a loss.

Each epoch has its own random streams, so a resumed run draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import Firing
from difflogic.config.problem import Problem
from difflogic.config.sections import TrainingConfig
from difflogic.system.array_types import Array, Bits
from difflogic.system.arrays import bits, real_numbers
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose, sample_streams, stream
from difflogic.tasks.checked import draw_batch


def attempt_of(training: TrainingConfig, epoch: int) -> int:
    """Return the attempt of an epoch, both from 0.

    Restarts shorten the long tail of stuck runs (Gomes, Selman and Kautz 1998).
    """
    return epoch // training.restart_every if training.restart_every else 0


def draw_loss_steps(problem: Problem, epoch: int) -> tuple[int, ...]:
    """Return the steps after which an epoch has a loss, ascending.

    A second, later step rules out automata that are right at one step only.
    """
    task = problem.task
    training = problem.training
    if task.has_loss():
        return task.find_steps_seen()
    steps = task.automaton.steps
    more = training.later_steps
    if not more:
        return (steps,)
    rng = stream(training.seed, Purpose.LATER_STEP, epoch)
    return steps, steps + int(rng.integers(1, more + 1))


class Samples(NamedTuple):
    """What an epoch trains on."""

    starts: Array
    """Bits (samples, C, H, W)."""
    targets: Array
    """Numbers (samples, loss channels, H, W), or NaN for cells that do not count."""
    masks: Bits | None
    """The cells that fire (samples, steps, H, W); None: all."""
    loss_steps: Sequence[int]
    """The steps after which there is a loss, ascending."""

    def some(self, chosen: slice) -> Samples:
        """Return some of the samples."""
        masks = None if self.masks is None else self.masks[chosen]
        return Samples(self.starts[chosen], self.targets[chosen], masks, self.loss_steps)


def draw_samples(problem: Problem, epoch: int) -> Samples:
    """Draw the samples of an epoch, with their loss steps."""
    task = problem.task
    training = problem.training
    automaton = problem.automaton
    starts, targets = draw_batch(task, training.seed, epoch, training.batch)
    streams = sample_streams(training.seed, Purpose.MASK, epoch, range(training.batch))
    fires = Firing(automaton.fire_rate, (task.height, task.width), streams)
    masks = fires.draw(automaton.steps + training.later_steps)
    return Samples(starts, targets, masks, draw_loss_steps(problem, epoch))


def own_batch(
    starts: npt.ArrayLike | None, targets: npt.ArrayLike | None, drawn: Samples
) -> Samples:
    """Return the drawn samples, or those with the caller's starts and targets if there are any.

    Raises ConfigError unless these have the shapes of the drawn ones.
    """
    if starts is None and targets is None:
        return drawn
    if starts is None or targets is None:
        raise ConfigError("an own batch: give starts and targets")
    found = []
    for name, given, like in ("starts", starts, drawn.starts), ("targets", targets, drawn.targets):
        array = real_numbers(name, given, nan=name == "targets")
        if array.shape != like.shape:
            raise ConfigError(f"{name} have shape {array.shape}: give {like.shape}")
        found.append(array)
    if np.isnan(found[1]).all():
        raise ConfigError(f"targets of shape {drawn.targets.shape}: give more than NaN")
    own = found[1].astype(drawn.targets.dtype)
    return drawn._replace(starts=bits("starts", found[0]), targets=own)
