"""The way back through hard gates in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def _bits(tile: Any, row: int, words: int) -> Any:
    return np.unpackbits(tile[row, :words].astype("<u8").view(np.uint8), bitorder="little")


def slope_any(arrays: Any, integers: Any) -> bool:
    (slopes,) = arrays
    place, words = integers
    return bool(slopes.reshape(-1)[place : place + 64 * words].any())


def slope_move(arrays: Any, integers: Any) -> None:
    source, target, masks = (array.reshape(-1) for array in arrays)
    start, place, mask, flip, use, words = integers
    goes = _bits(masks[None, mask:], 0, words) != flip
    g = np.where(goes, source[start : start + 64 * words], np.float32(0.0))
    handed = target[place : place + 64 * words]
    handed[:] = g if use == 1 else handed + g


def slope_back(arrays: Any, integers: Any) -> None:
    tile, slopes, forms, found = arrays
    row_a, row_b, op, own, a, use_a, b, use_b, words = integers
    x, y = (_bits(tile, row, words).astype(np.float32) for row in (row_a, row_b))
    g = slopes[own : own + 64 * words].copy()
    found[:] = [some.sum(dtype=np.float64) for some in (g, g * x, g * y, g * x * y)]
    c0, c1, c2, c3 = (forms[op] != 0).astype(np.int64)

    def value(one: Any, other: Any) -> Any:
        one, other = np.asarray(one, np.int64), np.asarray(other, np.int64)
        return c0 ^ (c1 & one) ^ (other & (c2 ^ (c3 & one)))

    for place, use, slope in (
        (a, use_a, value(1, y) - value(0, y)),
        (b, use_b, value(x, 1) - value(x, 0)),
    ):
        if use:
            target = slopes[place : place + 64 * words]
            target[:] = (target if use != 1 else 0) + g * slope
