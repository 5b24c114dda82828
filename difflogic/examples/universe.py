"""Patterns where they lie in one universe, as the frames of a film."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from difflogic.pictures.patterns import PatternFile
from difflogic.system.array_types import Int64s
from difflogic.system.errors import ConfigError


def bounds(topology: str) -> tuple[tuple[int, int] | None, Literal["zero", "periodic"]]:
    """Return rows and columns of a universe of Golly's, and what lies beyond its edge.

    None stands for an unbounded one, and for any but rectangles and tori.
    """
    kind = re.fullmatch(r"([TP])([1-9]\d{0,8})(?:,([1-9]\d{0,8}))?", topology)
    size = kind and (int(kind[3] or kind[2]), int(kind[2]))
    return size, "zero" if kind and kind[1] == "P" else "periodic"


def placed(
    patterns: Sequence[PatternFile], margin: int, most: int, whole: bool
) -> tuple[Int64s, str, tuple[str, ...]]:
    """Put patterns of one universe where they lie, by the lines that Golly writes.

    Return frames, (patterns, rows, columns), what lies beyond their edge, and how they were placed.

    An unbounded universe is cut `margin` cells beyond the last live ones. `whole` means that
    patterns without a place are whole grids, whatever they look like. Raises ConfigError if places
    are missing, and if more than `most` cells are needed.
    """
    sizes = {each.cells.shape for each in patterns}
    kinds = {each.topology for each in patterns}
    if len(kinds) > 1:
        raise ConfigError(f"patterns of several universes, {', '.join(sorted(kinds))}: give one")
    size, boundary = bounds(topology := kinds.pop())
    if topology and size is None:
        raise ConfigError(f"a universe of kind {topology} is not read: use T or P, with its size")
    if all(each.corner is None for each in patterns):
        plain = size is None and (whole or not all(each.cropped for each in patterns))
        if len(sizes) > 1 or not (plain or sizes == {size}):
            raise ConfigError(
                "these patterns look cut out of a larger grid, and do not say where they lie: add "
                "lines such as #CXRLE Pos=0,1 (column, row), as Golly does; or, for whole grids of "
                "the same size, give --boundary periodic or zero"
            )
        frames = np.stack([each.cells for each in patterns]).astype(np.int64)
        return frames, boundary, ()
    corners = np.array([each.corner or (0, 0) for each in patterns])
    ends = corners + [each.cells.shape for each in patterns]
    if size is None:
        first = corners.min(axis=0) - margin
        rows, columns = (ends.max(axis=0) + margin - first).tolist()
        words = f"placed by their files, on a plane with {margin} empty cells around them"
    else:
        first = -(np.array(size) // 2)
        (rows, columns) = size
        words = f"placed by their files, on Golly's {topology}"
        if (corners < first).any() or (ends > first + size).any():
            raise ConfigError(f"a pattern lies outside of its universe, {topology}")
    if rows * columns * len(patterns) > most:
        raise ConfigError(f"{rows}×{columns} cells in each frame are too many: cut the film")
    frames = np.zeros((len(patterns), rows, columns), np.int64)
    for frame, each, (y, x) in zip(frames, patterns, corners - first, strict=True):
        frame[y : y + each.cells.shape[0], x : x + each.cells.shape[1]] = each.cells
    return frames, boundary, (words,)
