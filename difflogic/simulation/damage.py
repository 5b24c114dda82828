"""Damage: cells that are zeroed, in all channels, after steps of one's choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import BitGrid, pack

NEVER = 2**63


@dataclass(frozen=True, eq=False)
class Damage:
    """Zeroes cells of `rows` after each of `steps`, counted from 1.

    `keep` says what survives there: words (rows of it, words) for each row, or (1, words) for
    all alike.
    """

    steps: tuple[int, ...]
    rows: slice
    keep: npt.NDArray[np.uint64]

    def next_after(self, step: int) -> int:
        """Return the first of the steps after `step`, or NEVER."""
        return min((each for each in self.steps if each > step), default=NEVER)

    def apply(self, grid: BitGrid, step: int) -> None:
        """Zero the cells if the step that was just taken is among the chosen ones."""
        if step in self.steps:
            grid.words[self.rows, :, grid.columns()] &= self.keep[:, None]
            grid.refresh_ends(self.rows)


def rectangle(
    steps: Sequence[int], rows: tuple[int, int], columns: tuple[int, int], width: int
) -> Damage:
    """Return damage of a rectangle, rows[0] to below rows[1], likewise columns, on a grid."""
    keep = np.ones((1, 1, width), np.uint8)
    keep[..., slice(*columns)] = 0
    return Damage(tuple(steps), slice(*rows), pack(keep)[:, 0])


def mask(steps: Sequence[int], cells: npt.NDArray) -> Damage:
    """Return damage of the cells (height, width) that are not 0."""
    return Damage(tuple(steps), slice(0, len(cells)), pack((cells == 0)[None])[:, 0])
