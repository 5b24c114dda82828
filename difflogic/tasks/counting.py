"""Lessons about places: single steps, in which each channel of each cell has a target.

A cell should count its row from its upper neighbour's and its column from its left neighbour's, in
the last channels, and show the picture's bits at the place that it believes to be its own. If each
step is right, so is the whole: places spread from the upper left corner, and the picture follows.

Targets of hidden channels are hints (Abu-Mostafa 1990, "Learning from hints in neural networks").
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.circuit.specification import Cases
from difflogic.pictures.places import place_bits
from difflogic.system.array_types import Bits
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Sample

SETTLED = 0.5
EVERYWHERE = 0.5
RANDOM = 0.25
"""Three shares of all lessons: those in which every cell knows its place again, those in
which every cell has lost it (in the others, the cells of a square), and those in which lost places
are random numbers (in the others, zeros)."""

LISTED = 36
"""Lessons of healing that a circuit must pass before it is asked to grow the picture, beside a
lesson for each step of the growth."""


class Counting(Task):
    """One step of cells that grow a picture, or grow it back."""

    def __init__(self, whole: Task, picture: Bits) -> None:
        """`whole` is to grow `picture` (bits, height, width), in its first loss channels."""
        section = whole.section.model_copy(update={"loss_channels": tuple(range(whole.channels))})
        super().__init__(section, whole.automaton.model_copy(update={"steps": 1}))
        self._whole = whole
        self._picture = picture

    @property
    def whole(self) -> Task:
        return self._whole

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a state in which some cells know their place, and what all cells should become."""
        shape = (self.height, self.width)
        lost = (slice(None), slice(None))
        steps = max(shape) if rng.random() < SETTLED else int(rng.integers(max(shape)))
        if self._whole.damages and rng.random() >= EVERYWHERE:
            lost = self._square(rng)
        is_random = rng.random() < RANDOM
        codes = []
        for axis, count in enumerate(place_bits(*shape)):
            place = np.indices(shape)[axis]
            first = place + 1
            first[lost] = rng.integers(0, place.max() + 2, place[lost].shape) if is_random else 0
            passed_on = np.roll(first, steps, axis) + steps
            codes.append(_bits(np.where(place < steps, place + 1, passed_on), count))
        shown = rng.integers(0, 2, self._picture.shape, np.uint8)
        return self._with_successor(np.concatenate([shown, *codes]))

    def _square(self, rng: np.random.Generator) -> tuple[slice, slice]:
        """Draw the rows and columns of a damage."""
        side = rng.choice(list(self._whole.damages))
        y, x = rng.integers(np.array((self.height, self.width)) - side + 1)
        return slice(y, y + side), slice(x, x + side)

    def _with_successor(self, state: Bits) -> Sample:
        shape = (self.height, self.width)
        own = len(self._picture)
        following = []
        believed = []
        inside = np.ones(shape, np.bool_)
        for axis, count in enumerate(place_bits(*shape)):
            code = np.tensordot(1 << np.arange(count), state[own : own + count], 1)
            after = np.where(np.indices(shape)[axis] > 0, np.roll(code, 1, axis), 0) + 1
            following.append(_bits(after, count))
            place = (code - 1) % (1 << count)
            inside &= place < shape[axis]
            believed.append(np.minimum(place, shape[axis] - 1))
            own += count
        shown = self._picture[:, *believed] * inside
        return state, np.concatenate([shown, *following]).astype(np.float64)

    @cached_property
    def _cases(self) -> Cases:
        """States of the growth, and of healing."""
        rng = np.random.default_rng(0)
        longer = max(self.height, self.width)
        state = np.zeros((self.channels, self.height, self.width), np.uint8)
        run = [self._with_successor(state)]
        for _ in range(longer + 1):
            run.append(self._with_successor(run[-1][1].astype(np.uint8)))
        drawn = list(run)
        for _ in range(LISTED if self._whole.damages else 0):
            state = run[-1][0].copy()
            state[:, *self._square(rng)] = 0
            lesson = self._with_successor(state)
            for _ in range(rng.integers(longer)):
                lesson = self._with_successor(lesson[1].astype(np.uint8))
            drawn.append(lesson)
        starts, targets = zip(*drawn, strict=True)
        return Cases("lessons", np.stack(starts), np.stack(targets), "zero", 1, "")

    def cases(self) -> Cases:
        return self._cases


def _bits(places: npt.NDArray[np.int64], count: int) -> Bits:
    bits: Bits = (places >> np.arange(count)[:, None, None] & 1).astype(np.uint8)
    return bits
