"""Starts that were found rather than drawn, with numbers of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import Bits
from difflogic.evaluation.scene import Draw

FIRST = 2**62
"""Their numbers begin here; no sample is ever drawn by such a number."""


class FoundStarts:
    """Draws starts by number as a scene does, and hands out found ones by theirs.

    All of them are to end in one target.
    """

    def __init__(self, draw: Draw, target: Bits) -> None:
        """`target` has the shape (loss channels, height, width)."""
        self._draw, self.target = draw, target
        self._starts: list[Bits] = []

    def clear(self) -> None:
        """Forget what was found."""
        self._starts = []

    def add(self, starts: Bits) -> range:
        """Take starts (batch, C, height, width), and return their numbers."""
        first = FIRST + len(self._starts)
        self._starts += list(starts)
        return range(first, first + len(starts))

    def draw(self, first: int, batch: int) -> tuple[Bits, npt.NDArray]:
        """Return starts (batch, C, height, width) and their targets, by consecutive numbers."""
        if first < FIRST:
            return self._draw(first, batch)
        starts = np.stack(self._starts[first - FIRST : first - FIRST + batch])
        return starts, np.broadcast_to(self.target, (batch, *self.target.shape))
