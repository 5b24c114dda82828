"""Life-like automata: the target is the next board of a rule such as Conway's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.grid import OUTSIDE, Boundary, neighbors
from difflogic.wiring import CENTER


@dataclass(frozen=True)
class Life:
    """Random boards as start, and as target the same board after `steps` of a B/S rule.

    On 3×3 periodic cells a random board is one of all 512, drawn with replacement.
    """

    channels: int
    height: int
    width: int
    boundary: Boundary = "periodic"
    steps: int = 1
    rule: str = "B3/S23"
    loss_channels: tuple[int, ...] = (0,)

    name = "life"

    @classmethod
    def from_config(cls, config: Config) -> Life:
        """Return the task with the sizes of `config`."""
        task, automaton = config.task, config.automaton
        return cls(
            automaton.channels, task.height, task.width, automaton.boundary, automaton.steps,
            task.rule, task.loss_channels,
        )  # fmt: skip

    @cached_property
    def _table(self) -> npt.NDArray[np.int64]:
        return neighbors(self.height, self.width, self.boundary)

    @cached_property
    def _next(self) -> npt.NDArray[np.uint8]:
        """Shape (2, 9): the next state of a dead or living cell with so many living neighbours."""
        born, survive = (part[1:] for part in self.rule.split("/"))
        table = np.zeros((2, 9), np.uint8)
        table[0, [int(digit) for digit in born]] = 1
        table[1, [int(digit) for digit in survive]] = 1
        return table

    def advance(self, board: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the board (height, width) one generation later."""
        cells = board.ravel()
        seen = np.where(self._table == OUTSIDE, 0, cells[self._table])
        return self._next[cells, seen.sum(axis=0) - seen[CENTER]].reshape(board.shape)

    def sample(
        self, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Draw a board in every loss channel, all other channels 0; its successors are the target.

        Shapes (channels, height, width) and (loss channels, height, width).
        """
        board = rng.integers(0, 2, size=(self.height, self.width), dtype=np.uint8)
        start = np.zeros((self.channels, self.height, self.width), np.uint8)
        start[list(self.loss_channels)] = board
        for _ in range(self.steps):
            board = self.advance(board)
        shape = (len(self.loss_channels), *board.shape)
        return start, np.broadcast_to(board.astype(np.float64), shape)
