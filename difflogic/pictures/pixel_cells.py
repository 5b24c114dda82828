"""Cells in the pixels of a film: how large they are, and where they lie."""

from __future__ import annotations

import numpy as np

from difflogic.pictures.pixels import PixelFilm, cell_side, changes, color_name
from difflogic.system.array_types import Int64s
from difflogic.system.errors import ConfigError

LEAST_CELLS = 3
"""To a side of a film, where they are not plain squares side by side."""

CellPlaces = Int64s


def side_of(film: PixelFilm, grid: tuple[int, int] | None) -> int:
    """Return the side of the largest squares of one colour each that divide all frames.

    If such squares, as large or smaller, make up the grid, return their side. Raises ConfigError if
    they are smaller, and the film shows both.
    """
    largest = cell_side(film)
    rows, columns = grid or film.shape[1:]
    side: int = film.shape[1] // rows
    fits = side and largest % side == 0 and film.shape[1:] == (side * rows, side * columns)
    if not (grid and fits):
        return largest
    if side < largest and (film != film[:, :1, :1]).any():
        raise ConfigError(
            f"cells look {largest} pixels wide, and {rows}×{columns}, as the circuit was trained "
            f"on, would be {side} wide: give --cell {largest} or --cell {side}"
        )
    return side


def apart(film: PixelFilm, cell: int | str) -> tuple[PixelFilm, str]:
    """Return a film with a pixel for each cell, and how large cells were, in words.

    There may be lines or gaps between cells, or their widths differ, since the film was scaled by
    no whole number. Where cells are plain squares, return the film as it is, and "".
    """
    _, height, width = film.shape
    edges = changes(film)
    for pitch in range(3, min(height, width) // LEAST_CELLS + 1):
        side, rows = _lined(edges[0], height, pitch)
        other, columns = _lined(edges[1], width, pitch)
        if not side or side != other:
            continue
        inside = film[:, rows][:, :, columns]
        lines = np.ones((height, width), np.bool_)
        around = [(each[:, None] + np.arange(side)).ravel() for each in (rows, columns)]
        lines[np.ix_(*around)] = False
        between = film[:, lines]
        plain = (inside == inside[0, 0, 0]).all()
        if cell in ("auto", pitch, side) and not plain and (between == between[0, 0]).all():
            name = color_name(int(between[0, 0]))
            return inside, f"cells of {side} pixels, between lines of {name}"
    if cell == "auto" and cell_side(film) == 1:
        rows = _uneven(edges[0], height)
        columns = _uneven(edges[1], width)
        if len(rows) and len(columns) and abs(height / len(rows) - width / len(columns)) < 0.1:
            return film[:, rows][:, :, columns], f"cells of about {height / len(rows):.3g} pixels"
    return film, ""


def _lined(edges: CellPlaces, size: int, pitch: int) -> tuple[int, CellPlaces]:
    """Return the side of cells, and where each begins, if there are lines every `pitch` pixels.

    The side is 0 if there are none. `edges` has where lines of pixels differ from those before
    them. Cells are wider than lines, and only lines may be cut off at the first and the last pixel.
    """
    phases = np.unique(edges % pitch).tolist()
    if len(phases) != 2:
        return 0, edges
    start, end = phases
    if 2 * (end - start) < pitch:
        start, end = end, start + pitch
    side = end - start
    rest = (size - start) % pitch
    if 2 * side <= pitch or start > pitch - side or 0 < rest < side:
        return 0, edges
    return side, np.arange(start, size - side + 1, pitch)


def _uneven(edges: CellPlaces, size: int) -> CellPlaces:
    """Return the middle of each cell, if a size was scaled by a number above 2; else nothing.

    A scaled pixel has the colour of the one at its middle, or at its corner. Half of all cells must
    show that they begin there.
    """
    if not len(edges) or np.diff(edges).min(initial=size) < 2:
        return edges[:0]
    for cells in range(LEAST_CELLS, size // 2 + 1):
        wide = size / cells
        for corner in (0, 0.5):
            number = np.rint((edges - corner) / wide)
            fits = np.abs(edges - corner - number * wide).max() < 0.5 + 1e-9
            if fits and 2 * len(edges) >= cells:
                return ((np.arange(cells) + 0.5) * wide).astype(np.int64)
    return edges[:0]
