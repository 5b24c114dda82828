"""What an epoch trains on: its attempt, samples, masks, and the steps with a loss.

Each epoch has its own random streams, so a resumed run draws the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import draw_masks
from difflogic.config.models import Config
from difflogic.config.sections import TrainingConfig
from difflogic.system.arrays import bits, real_numbers
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Task, draw_batch

Array = npt.NDArray[Any]
Bits = npt.NDArray[np.uint8]


def attempt_of(training: TrainingConfig, epoch: int) -> int:
    """Return the attempt of an epoch, both from 0.

    Restarts shorten the long tail of stuck runs (Gomes, Selman and Kautz 1998).
    """
    return epoch // training.restart_every if training.restart_every else 0


def staged(config: Config, task: Task) -> Config:
    """Return the configuration of one of a task's stages."""
    section = config.task.model_copy(update=dict(task.section))
    return config.model_copy(update={"task": section, "automaton": task.automaton})


def draw_epoch(
    task: Task, config: Config, epoch: int
) -> tuple[Bits, npt.NDArray[np.float64], Bits | None]:
    """Return an epoch's starts (batch, C, H, W), targets, and masks (None if synchronous)."""
    training, automaton, size = config.training, config.automaton, config.task
    starts, targets = draw_batch(task, training.seed, epoch, training.batch)
    masks = draw_masks(
        training.seed,
        epoch,
        training.batch,
        automaton.steps + training.later_steps,
        size.height,
        size.width,
        automaton.fire_rate,
    )
    return starts, targets, masks


def draw_loss_steps(task: Task, config: Config, epoch: int) -> tuple[int, ...]:
    """Return the steps after which an epoch has a loss, ascending.

    A second, later step rules out automata that are right at one step only.
    """
    if task.has_loss():
        return task.find_steps_seen()
    steps, more = config.automaton.steps, config.training.later_steps
    if not more:
        return (steps,)
    rng = stream(config.training.seed, Purpose.LATER_STEP, epoch)
    return steps, steps + int(rng.integers(1, more + 1))


def own_batch(
    starts: npt.ArrayLike | None,
    targets: npt.ArrayLike | None,
    drawn_starts: Bits,
    drawn_targets: Array,
) -> tuple[Bits, Array]:
    """Return the caller's batch if there is one, else the drawn one.

    Raises ConfigError unless the caller's batch has the shapes of the drawn one.
    """
    if starts is None and targets is None:
        return drawn_starts, drawn_targets
    if starts is None or targets is None:
        raise ConfigError("an own batch: give starts and targets")
    found = []
    for name, given, drawn in (
        ("starts", starts, drawn_starts),
        ("targets", targets, drawn_targets),
    ):
        array = real_numbers(name, given, nan=name == "targets")
        if array.shape != drawn.shape:
            raise ConfigError(f"{name} have shape {array.shape}: give {drawn.shape}")
        found.append(array)
    if np.isnan(found[1]).all():
        raise ConfigError(f"targets of shape {drawn_targets.shape}: give more than NaN")
    return bits("starts", found[0]), found[1].astype(drawn_targets.dtype)
