"""Finds the shifts under which a picture of bits repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Period:
    """The shifts that do not change a picture.

    `height` is the least shift downwards and `width` the least to the right, in cells, or 0. The
    `diagonal` (dy, dx), or None, is the shift by the fewest rows that is no sum of those. The 2×2
    squares of a checkerboard have period 4×4 with diagonal (2, 2).
    """

    height: int
    width: int
    diagonal: tuple[int, int] | None = None


def on_torus(bits: Bits) -> Period:
    """Return the period of a picture (channels, height, width) that is repeated over the plane.

    Its own height and width are therefore among the shifts.
    """

    def same(dy: int, dx: int) -> bool:
        return bool((np.roll(bits, (dy, dx), axis=(1, 2)) == bits).all())

    return _period(bits, same)


def inside(bits: Bits) -> Period:
    """Return the visible period of a picture (channels, height, width).

    A shift counts if the picture agrees with its shifted copy wherever they overlap, and they
    overlap in at least half of the picture.
    """
    _, rows, columns = bits.shape

    def same(dy: int, dx: int) -> bool:
        left, right = max(dx, 0), max(-dx, 0)
        here = bits[:, dy:, left : columns - right]
        there = bits[:, : rows - dy, right : columns - left]
        return 2 * here.size >= bits.size and bool((here == there).all())

    return _period(bits, same)


def _period(bits: Bits, same: Callable[[int, int], bool]) -> Period:
    """Return the least shifts down, right and diagonally that `same` allows."""
    _, rows, columns = bits.shape
    height = next((dy for dy in range(1, rows + 1) if same(dy, 0)), 0)
    width = next((dx for dx in range(1, columns + 1) if same(0, dx)), 0)
    signs = (1,) if width else (1, -1)
    shifts = (
        (dy, sign * dx)
        for dy in range(1, height or rows)
        for dx in range(1, width or columns)
        for sign in signs
    )
    return Period(height, width, next((shift for shift in shifts if same(*shift)), None))
