"""Growing a picture from one cell in the middle, or from nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.pictures import parse_picture


@dataclass(frozen=True)
class Pattern:
    """One start and one target: there is nothing to draw."""

    start: npt.NDArray[np.uint8]
    """Shape (channels, height, width)."""
    target: npt.NDArray[np.float64]
    """Shape (loss channels, height, width)."""
    loss_channels: tuple[int, ...] = (0,)

    name = "pattern"

    @classmethod
    def from_config(cls, config: Config) -> Pattern:
        """Return the task of `config`: its picture, grown on a grid of the picture's size."""
        task = config.task
        start = np.zeros((config.automaton.channels, task.height, task.width), np.uint8)
        if task.start == "center":
            start[:, task.height // 2, task.width // 2] = 1
        target = parse_picture(task.target, len(task.loss_channels)).astype(np.float64)
        return cls(start, target, task.loss_channels)

    def sample(
        self, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Return the start state and the picture, the same each time."""
        return self.start, self.target
