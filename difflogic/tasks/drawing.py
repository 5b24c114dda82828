"""Batches of samples, each drawn from a stream of its own."""

from __future__ import annotations

import numpy as np

from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose
from difflogic.tasks.base import Sample, Task, TaskError


def draw_batch(
    task: Task, seed: int, epoch: int, batch: int, purpose: Purpose = Purpose.START, first: int = 0
) -> Sample:
    """Draw `batch` samples of an epoch, from number `first` on, each from a stream of its own.

    Returns start states (batch, channels, height, width) and targets (batch, loss channels,
    height, width). Raises ConfigError if a target holds NaN or infinity, or a start no bits.
    """
    starts, targets = task.draw_numbered(seed, purpose, epoch, range(first, first + batch))
    targets = targets.astype(np.float64, copy=False)
    if starts.max() > 1:
        raise TaskError(
            f"{task.blamed}.sample gives a start with the value {starts.max()}: every element of a "
            "start must be 0 or 1"
        )
    wrong = np.argwhere(~np.isfinite(targets))
    if len(wrong):
        sample, channel, y, x = wrong[0]
        raise ConfigError(
            f'task "{task.name}": the target of sample {first + sample} in epoch {epoch} is '
            f"{targets[sample, channel, y, x]} in loss channel {channel} at row {y}, column {x}: "
            f"every target must be a finite number, 0 or 1 for bits"
        )
    return starts, targets
