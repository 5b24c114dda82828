"""Lessons about wounds: single steps of damaged checkerboards, and what each cell can know then.

A settled cell has a code of eight bits: its own colour, those of its right, lower and lower right
neighbour, the opposites of the first three, and a bit that says that it has fired. So any neighbour
determines the code, and zeros mean that nothing is known. In a lesson, some cells have lost their
code. A cell that can tell its code from its neighbours should have it after one step; a cell that
sees no code should have none. If each step is right, so is the whole: codes spread from the upper
left corner, and a wound closes from all sides.

Targets of hidden channels are hints (Abu-Mostafa 1990, "Learning from hints in neural networks").
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from difflogic.system.array_types import Bits, Int64s
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Sample

if TYPE_CHECKING:
    from difflogic.tasks.kernels.lessons import Lesson

Contents = Literal["none", "any"]

CODE_CHANNELS = 8
"""Channels of a code. The last says that a cell has fired; the rest is zeros if not known."""


class Wounds(Task):
    """One step of a board of small checkerboards with gaps between them, some cells wounded."""

    def __init__(self, board: Task, square: int) -> None:
        """Prepare for `board`, a checkerboard of `square` by `square` cells."""
        section = board.section.model_copy(update={"loss_channels": tuple(range(CODE_CHANNELS))})
        automaton = board.automaton.model_copy(update={"steps": 1, "fire_rate": 1.0})
        super().__init__(section, automaton)
        self._square = square

    @cached_property
    def _plane(self) -> Bits:
        """The codes of a part of the plane, shape (CODE_CHANNELS, rows, columns)."""
        period = 2 * self._square
        y, x = np.indices((self.height + period, self.width + period))

        def color(down: int, right: int) -> Int64s:
            return ((y + down) // self._square + (x + right) // self._square) % 2

        own, right, lower, diagonal = (color(*at) for at in ((0, 0), (0, 1), (1, 0), (1, 1)))
        pairs = (own, 1 - own, right, 1 - right, lower, 1 - lower, diagonal, np.ones_like(own))
        return np.stack(pairs).astype(np.uint8)

    def sample(self, rng: np.random.Generator) -> Sample:
        lesson = self.draw_lesson(rng)
        return lesson.state, lesson.target

    def draw_lesson(self, rng: np.random.Generator) -> Lesson:
        """Draw a board of small ones with gaps, some cells wounded, and what it teaches."""
        # Numba is imported by those who draw lessons.
        from difflogic.tasks.kernels.lessons import draw, new_lesson

        lesson = new_lesson(self._plane, self.height, self.width)
        count = 2 ** (3 * self.height * self.width).bit_length()
        while lesson.used[0] > len(lesson.words):
            more = rng.bit_generator.random_raw(max(count, len(lesson.words)))
            lesson = lesson._replace(words=np.append(lesson.words, more.view(np.int64)))
            draw(lesson, 2 * self._square)
        return lesson
