"""Starts that a certificate found, with numbers of their own beside the drawn ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import Bits
from difflogic.evaluation.scene import Draw

FIRST = 2**62
"""The first of their numbers; no drawn start has such a number."""


class FoundStarts:
    """Returns starts by number: draws them as a scene does, or looks up found ones.

    All have the same target.
    """

    def __init__(self, draw: Draw, target: Bits) -> None:
        """`target` has the shape (loss channels, height, width)."""
        self._draw, self.target = draw, target
        self._starts: list[Bits] = []

    def clear(self) -> None:
        """Forget what was found."""
        self._starts = []

    def add(self, starts: Bits) -> range:
        """Add starts (batch, C, height, width); return their numbers."""
        first = FIRST + len(self._starts)
        self._starts += list(starts)
        return range(first, first + len(starts))

    def draw(self, first: int, batch: int) -> tuple[Bits, npt.NDArray]:
        """Return starts (batch, C, height, width) and their targets, by consecutive numbers."""
        if first < FIRST:
            return self._draw(first, batch)
        starts = np.stack(self._starts[first - FIRST : first - FIRST + batch])
        return starts, np.broadcast_to(self.target, (batch, *self.target.shape))
