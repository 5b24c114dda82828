"""What an epoch of training takes: its samples, its masks, and the steps that the loss looks at."""

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
    """Draw what an epoch of training takes: start states, targets, and masks or None."""
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
    """Return the steps of the longest rollout that training makes."""
    return config.automaton.steps + config.training.later_steps


def draw_loss_steps(config: Config, epoch: int) -> tuple[int, ...]:
    """Return the steps after which an epoch compares states with the target, ascending.

    A later one beside the last step forbids automata that are right only when they are looked at.
    """
    steps, more = config.automaton.steps, config.training.later_steps
    if not more:
        return (steps,)
    rng = stream(config.training.seed, Purpose.LATER_STEP, epoch)
    return steps, steps + int(rng.integers(1, more + 1))
