"""How cells grow a picture: what they know of their place, and what is asked of the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from difflogic.circuit.grid import Boundary, center_start
from difflogic.pictures.places import Places
from difflogic.system.array_types import Bits


@dataclass(frozen=True)
class Growth:
    """One picture on a grid of cells, with all that is asked of it."""

    bits: int
    """Channels of the picture."""
    height: int
    width: int
    places: Places | None = None
    """What fixed gates count; None if cells learn what they need to know."""
    start: Literal["center", "zeros", "places"] = "zeros"
    """One cell of ones in the middle, no ones, or no ones where all places are counted."""
    hold: bool = False
    """Whether the picture stays, by proof."""
    heal: tuple[int, ...] = ()
    """Sides of squares: it grows back, by proof, wherever one is zeroed."""
    boundary: Boundary = "zero"

    @property
    def channels(self) -> int:
        """Channels of the picture and of places."""
        return self.bits + (0 if self.places is None else self.places.channels)

    @property
    def least_steps(self) -> int:
        """Steps from zeros until every cell can have counted its place and shows the picture."""
        longer = max(self.height, self.width)
        shorter = min(self.height, self.width)
        is_tough = self.places is not None and self.places.tough
        return longer + 1 + (shorter + 1) // 2 * is_tough

    def first(self, channels: int) -> Bits:
        """Return the state that the picture grows from, shape (channels, height, width)."""
        if self.start == "center":
            return center_start(channels, self.height, self.width)
        if self.start == "places" and self.places is not None:
            return self.places.settled(channels, self.height, self.width)
        return np.zeros((channels, self.height, self.width), np.uint8)

    @property
    def damages(self) -> dict[int, int]:
        """The number of squares of each side. Large grids have more than fit in memory."""
        cut = {side: (side - 1) * (self.boundary == "zero") for side in self.heal}
        return {side: (self.height - less) * (self.width - less) for side, less in cut.items()}

    def squares(self, side: int) -> Bits:
        """Return a square of cells in every place, (squares, height, width).

        They reach across the edge only on a torus.
        """
        stretches = []
        for length in (self.height, self.width):
            first = np.arange(length if self.boundary == "periodic" else length - side + 1)
            stretches.append((np.arange(length) - first[:, None]) % length < side)
        rows, columns = stretches
        squares = (rows[:, None, :, None] & columns[None, :, None, :]).astype(np.uint8)
        return squares.reshape(-1, self.height, self.width)

    def problems(self, steps: int, fire_rate: float) -> list[str]:
        """Return why no automaton with these steps can do it."""
        if self.start == "places" and self.places is None:
            return ['[task] start: no places are counted: set [automaton] places, or "zeros"']
        longer = max(self.height, self.width)
        shorter = min(self.height, self.width)
        if self.places and self.start != "places" and steps < self.least_steps:
            return [
                f"[automaton] steps: {steps} steps are too few to count {longer} cells and then "
                f"show them: use {self.least_steps} or more"
            ]
        if self.hold and fire_rate < 1:
            return [
                "[task] hold: only a run that repeats keeps its picture, and below a fire rate "
                "of 1 no run repeats: set [automaton] fire_rate = 1, or hold = false"
            ]
        if self.heal and not self.hold:
            return ["[task] heal: a picture can only heal if it stays: set hold = true"]
        return [
            f"[task] heal: a patch of {side}×{side} cells leaves nothing of a row or column of "
            f"{self.height}×{self.width} cells: use at most {shorter - 1}"
            for side in self.heal
            if side >= shorter
        ]
