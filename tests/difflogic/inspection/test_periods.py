"""Periods of pictures, compared with shifts that are tried one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from difflogic.inspection.fixed_points import Period, inside, on_torus

CHECKERBOARD = np.kron(np.indices((2, 2)).sum(axis=0) % 2, np.ones((2, 2), int)).astype(np.uint8)


def tiled(tile: list[list[int]] | np.ndarray, rows: int, columns: int) -> np.ndarray:
    tile = np.array(tile, np.uint8)
    copies = (-(-rows // tile.shape[0]), -(-columns // tile.shape[1]))
    return np.tile(tile, copies)[None, :rows, :columns]


@pytest.mark.parametrize("look", [on_torus, inside])
@pytest.mark.parametrize(
    ("tile", "period"),
    [
        ([[1]], Period(1, 1)),
        ([[0, 1]], Period(1, 2)),
        ([[0], [1], [1]], Period(3, 1)),
        ([[0, 1], [1, 0]], Period(2, 2, (1, 1))),
        ([[1, 0], [0, 0]], Period(2, 2)),
        (CHECKERBOARD, Period(4, 4, (2, 2))),
        ([[1, 0, 0], [0, 0, 1], [0, 1, 0]], Period(3, 3, (1, 2))),
        ([[1, 1, 0, 0], [0, 0, 1, 1]], Period(2, 4, (1, 2))),
    ],
)
def test_known(look, tile: list[list[int]], period: Period) -> None:  # type: ignore[no-untyped-def]
    assert look(tiled(tile, 12, 12)) == period


def test_a_part_of_a_checkerboard() -> None:
    assert inside(tiled(CHECKERBOARD, 15, 13)) == Period(4, 4, (2, 2))
    assert on_torus(tiled(CHECKERBOARD, 14, 12)) == Period(14, 4)


def test_one_wrong_cell_ends_it() -> None:
    bits = tiled(CHECKERBOARD, 16, 16)
    bits[0, 5, 9] ^= 1
    assert inside(bits) == Period(0, 0)
    assert on_torus(bits) == Period(16, 16)


def test_a_diagonal_alone_is_seen_in_both_directions() -> None:
    plane = np.random.default_rng(0).integers(0, 2, 60, dtype=np.uint8)
    for sign in (1, -1):
        rows = [plane[20 - sign * 3 * (y // 2) + 7 * (y % 2) :][:20] for y in range(8)]
        assert inside(np.array([rows])) == Period(0, 0, (2, sign * 3))


@given(
    arrays(
        np.uint8,
        st.tuples(st.just(1), st.integers(1, 5), st.integers(1, 5)),
        elements=st.integers(0, 1),
    )
)
def test_the_shifts_of_a_torus(bits: np.ndarray) -> None:
    _, rows, columns = bits.shape
    same = {
        (dy, dx)
        for dy in range(rows)
        for dx in range(columns)
        if all(
            bits[0, y, x] == bits[0, (y + dy) % rows, (x + dx) % columns]
            for y in range(rows)
            for x in range(columns)
        )
    }
    period = on_torus(bits)
    step = period.diagonal or (period.height, 0)
    told = {
        (step[0] * i % rows, (step[1] * i + period.width * j) % columns)
        for i in range(rows)
        for j in range(columns)
    }
    assert told == same
