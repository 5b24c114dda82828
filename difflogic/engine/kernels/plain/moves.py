"""The moves of rows between grids and tiles in NumPy."""

from __future__ import annotations

from typing import Any


def rows_seen(arrays: Any, integers: Any, lanes: int) -> None:
    tile, grid, mend_lane, mend_source = arrays
    first, mend, mend_end, count, row, rows, to = integers
    for r in range(rows):
        target = tile[(to + r) * lanes : (to + r + 1) * lanes]
        target[:] = grid[row + r, first : first + lanes]
        for m in range(mend, mend_end):
            target[mend_lane[m]] = grid[row + r, mend_source[m]]
        target[count:] = 0.0


def rows_added(arrays: Any, integers: Any, lanes: int) -> None:
    totals, parts, numbers = arrays
    first, end, count, part, apart, adds = integers
    for r in range(first, end):
        total = totals[numbers[r] * lanes : (numbers[r] + 1) * lanes]
        if not adds:
            total[:] = 0.0
        for k in range(count):
            row = part + r - first + k * apart
            total += parts[row * lanes : (row + 1) * lanes]


def rows_left(arrays: Any, integers: Any, lanes: int) -> None:
    tile, grid, numbers = arrays
    first, end, place = integers
    for r in range(first, end):
        grid[r, place : place + lanes] = tile[numbers[r] * lanes : (numbers[r] + 1) * lanes]
