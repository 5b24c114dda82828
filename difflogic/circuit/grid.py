"""Neighbourhoods, boundaries and starts of rectangular grids, cells numbered row by row."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Boundary = Literal["zero", "periodic"]

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
}
"""The cells that a rule may read, as (rows down, columns right), row-major."""

OUTSIDE = -1
"""Stands for a neighbour beyond a zero boundary, where all bits are 0."""


def neighbors(height: int, width: int, boundary: Boundary) -> npt.NDArray[np.int64]:
    """Return the number of each cell's neighbours, (9, height · width); OUTSIDE beyond the edge."""
    y, x = np.divmod(np.arange(height * width), width)
    table = np.empty((len(OFFSETS), height * width), dtype=np.int64)
    for n, (dy, dx) in enumerate(OFFSETS):
        ny, nx = y + dy, x + dx
        inside = (ny >= 0) & (ny < height) & (nx >= 0) & (nx < width)
        cell = (ny % height) * width + nx % width
        table[n] = cell if boundary == "periodic" else np.where(inside, cell, OUTSIDE)
    return table
