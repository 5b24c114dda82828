"""What automata are trained to do: start states and targets, drawn sample by sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.errors import ConfigError, did_you_mean
from difflogic.streams import Purpose, stream
from difflogic.tasks.checkerboard import Checkerboard
from difflogic.tasks.life import Life
from difflogic.tasks.pattern import Pattern

Sample = tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]
"""A start state, shape (channels, height, width), and a target, (loss channels, height, width)."""


class Task(Protocol):
    """A source of samples. The same generator state gives the same sample."""

    @property
    def name(self) -> str:
        """What messages call the task."""

    @property
    def loss_channels(self) -> tuple[int, ...]:
        """The channels that the target is compared with, in its order."""

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw one sample. The arrays may be shared: do not write to them."""


TASKS: dict[str, Callable[[Config], Task]] = {
    "checkerboard": Checkerboard.from_config,
    "life": Life.from_config,
    "pattern": Pattern.from_config,
}
"""Makes the task of each `kind`; `TaskConfig.kind` lists the same names."""


def make_task(config: Config) -> Task:
    """Return the task that `config` asks for. Raises ConfigError if there is no such kind."""
    kind = config.task.kind
    if kind not in TASKS:
        raise ConfigError(f'no task "{kind}": {did_you_mean(kind, TASKS)}')
    return TASKS[kind](config)


def draw_batch(
    task: Task,
    seed: int,
    epoch: int,
    batch: int,
    purpose: Purpose = Purpose.START,
    first: int = 0,
) -> Sample:
    """Draw `batch` samples of an epoch, from number `first` on, each from a stream of its own.

    Returns start states (batch, channels, height, width) and targets (batch, loss channels,
    height, width). Raises ConfigError if a target holds NaN or infinity.
    """
    numbers = range(first, first + batch)
    samples = [task.sample(stream(seed, purpose, epoch, number)) for number in numbers]
    starts = np.stack([start for start, _ in samples])
    targets = np.stack([target for _, target in samples]).astype(np.float64, copy=False)
    wrong = np.argwhere(~np.isfinite(targets))
    if len(wrong):
        sample, channel, y, x = wrong[0]
        raise ConfigError(
            f'task "{task.name}": the target of sample {first + sample} in epoch {epoch} is '
            f"{targets[sample, channel, y, x]} in loss channel {channel} at row {y}, column {x}: "
            f"every target must be a finite number, 0 or 1 for bits"
        )
    return starts, targets


def draw_epoch(
    task: Task, config: Config, epoch: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64], npt.NDArray[np.uint8] | None]:
    """Draw what an epoch of training takes: start states, targets, and masks or None."""
    training, automaton, size = config.training, config.automaton, config.task
    starts, targets = draw_batch(task, training.seed, epoch, training.batch)
    masks = draw_masks(
        training.seed, epoch, training.batch, longest_rollout(config), size.height, size.width,
        automaton.fire_rate,
    )  # fmt: skip
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


def draw_masks(
    seed: int,
    epoch: int,
    batch: int,
    steps: int,
    height: int,
    width: int,
    fire_rate: float,
    purpose: Purpose = Purpose.MASK,
    first: int = 0,
) -> npt.NDArray[np.uint8] | None:
    """Draw which cells fire, shape (batch, steps, height, width): 1 takes its new state.

    The samples are those from number `first` on. A cell fires where a uniform number is at most
    `fire_rate`, in (0, 1]; all channels of a cell share the mask. Returns None at fire rate 1,
    where every cell fires at every step.
    """
    if fire_rate == 1:
        return None
    masks = np.empty((batch, steps, height, width), dtype=np.uint8)
    for index, mask in enumerate(masks):
        rng = stream(seed, purpose, epoch, first + index)
        mask[:] = rng.random(mask.shape) <= fire_rate
    return masks
