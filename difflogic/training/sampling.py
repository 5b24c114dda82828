"""The random choices of an epoch: its samples, its masks, and the steps that the loss compares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import draw_masks
from difflogic.config import Config
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Task, draw_batch


def draw_epoch(
    task: Task, config: Config, epoch: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64], npt.NDArray[np.uint8] | None]:
    """Draw an epoch's starts, its targets, and its masks or None."""
    training, automaton, size = config.training, config.automaton, config.task
    starts, targets = draw_batch(task, training.seed, epoch, training.batch)
    masks = draw_masks(
        training.seed,
        epoch,
        training.batch,
        longest_rollout(config),
        size.height,
        size.width,
        automaton.fire_rate,
    )
    return starts, targets, masks


def longest_rollout(config: Config) -> int:
    """Return the number of steps of training's longest rollout."""
    return config.automaton.steps + config.training.later_steps


def draw_loss_steps(config: Config, epoch: int) -> tuple[int, ...]:
    """Return the steps after which an epoch compares states with the target, ascending.

    A second, later step rules out automata that are right at one step only.
    """
    steps, more = config.automaton.steps, config.training.later_steps
    if not more:
        return (steps,)
    rng = stream(config.training.seed, Purpose.LATER_STEP, epoch)
    return steps, steps + int(rng.integers(1, more + 1))
