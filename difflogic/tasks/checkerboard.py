"""The checkerboard: from noise in all channels to a regular pattern of squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.config import Config


@dataclass(frozen=True)
class Checkerboard:
    """Random bits as start, and squares of `square` cells as target in each loss channel."""

    channels: int
    height: int
    width: int
    square: int = 2
    loss_channels: tuple[int, ...] = (0,)

    name = "checkerboard"

    @classmethod
    def from_config(cls, config: Config) -> Checkerboard:
        """Return the task with the sizes of `config`."""
        task = config.task
        return cls(
            config.automaton.channels, task.height, task.width, task.square, task.loss_channels
        )

    @cached_property
    def target(self) -> npt.NDArray[np.float64]:
        """Shape (loss channels, height, width): (x//square + y//square) % 2, not writable."""
        y, x = np.indices((self.height, self.width)) // self.square
        board = ((x + y) % 2).astype(np.float64)
        return np.broadcast_to(board, (len(self.loss_channels), *board.shape))

    def sample(
        self, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Draw a start state (channels, height, width) of fair bits; the target is always one."""
        size = (self.channels, self.height, self.width)
        return rng.integers(0, 2, size=size, dtype=np.uint8), self.target
