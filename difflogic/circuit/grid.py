"""Neighbourhoods, boundaries and starts of rectangular grids, cells numbered row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from difflogic.system.array_types import Array, Bits, Flags, Int64s


class Walls(NamedTuple):
    """A grid of small grids, side by side, each with zeros beyond its edge."""

    rows: tuple[int, ...]
    """The heights of the small grids, from above."""
    columns: tuple[int, ...]
    """Their widths, from the left."""

    @property
    def places(self) -> tuple[Int64s, Int64s]:
        """The place of each row, and of each column, in its small grids."""
        rows, columns = (np.concatenate([np.arange(side) for side in sides]) for sides in self)
        return rows, columns

    def cut(self, picture: Array) -> Array:
        """Return each small grid's upper left part of a picture (…, rows, columns), together."""
        rows, columns = self.places
        return picture[..., rows[:, None], columns]


Boundary = Literal["zero", "periodic"]


@dataclass(frozen=True)
class Grid:
    """The cells of one sample."""

    height: int
    width: int
    boundary: Boundary

    @property
    def cells(self) -> int:
        return self.height * self.width


Start = Literal["random", "center", "zeros"]
"""Random bits in all channels, one cell of ones in the middle of zeros, or zeros alone."""

OFFSETS = tuple((dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
"""The cells of a Moore neighbourhood, row-major: (rows down, columns right) from the centre.

Neighbour n and neighbour 8 - n are opposite."""

NEIGHBORS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
"""Their names."""

NEIGHBORHOOD = len(OFFSETS)
CENTER = OFFSETS.index((0, 0))

NEIGHBORHOODS = {
    "moore": OFFSETS,
    "von-neumann": ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)),
    # Drawn on squares as Golly does: the north-east and south-west cells are no neighbours.
    "hexagonal": ((-1, -1), (-1, 0), (0, -1), (0, 0), (0, 1), (1, 0), (1, 1)),
    "line": ((0, -1), (0, 0), (0, 1)),
    "corner": ((-1, -1), (-1, 0), (0, -1), (0, 0)),
}
"""The cells that a rule may read, as (rows down, columns right), row-major."""

OUTSIDE = -1
"""Stands for a neighbour beyond a zero boundary, where all bits are 0."""


def turned(matrix: Sequence[int], offsets: Sequence[tuple[int, int]] = OFFSETS) -> list[int]:
    """Return the place to which a matrix, row by row, moves each of some offsets (dy, dx)."""
    a, b, c, d = matrix
    return [offsets.index((a * dy + b * dx, c * dy + d * dx)) for dy, dx in offsets]


def neighbors(height: int, width: int, boundary: Boundary | Walls) -> Int64s:
    """Return the number of each cell's neighbours, (9, height · width); OUTSIDE beyond an edge."""
    y, x = np.divmod(np.arange(height * width), width)
    table = np.empty((len(OFFSETS), height * width), dtype=np.int64)
    grids = boundary if isinstance(boundary, Walls) else Walls((height,), (width,))
    row, column = (np.pad(places, 1, constant_values=OUTSIDE - 1) for places in grids.places)
    for n, (dy, dx) in enumerate(OFFSETS):
        ny = y + dy
        nx = x + dx
        inside = (row[ny + 1] == row[y + 1] + dy) & (column[nx + 1] == column[x + 1] + dx)
        cell = (ny % height) * width + nx % width
        table[n] = cell if boundary == "periodic" else np.where(inside, cell, OUTSIDE)
    return table


def shifts(height: int, width: int, boundary: Boundary | Walls) -> list[list[tuple[int, Flags]]]:
    """Return, for each neighbour, how far after a cell it comes, and the cells that see it there.

    Cells at an edge see the opposite edge at another distance than the rest, or nothing.
    """
    own = np.arange(height * width)
    found = []
    for seen in neighbors(height, width, boundary):
        exists = seen != OUTSIDE
        far = seen - own
        found.append([(each, exists & (far == each)) for each in np.unique(far[exists]).tolist()])
    return found


def center_start(channels: int, height: int, width: int) -> Bits:
    """Return one cell of ones in the middle of zeros, shape (channels, height, width)."""
    start = np.zeros((channels, height, width), np.uint8)
    start[:, height // 2, width // 2] = 1
    return start
