"""Moves of rows between grids and tiles, compared with NumPy."""

from functools import cache

import numba
import numpy as np
import pytest

from difflogic.engine.kernels import plain
from difflogic.system.arrays import aligned
from difflogic.system.jit import JIT

if not JIT:
    pytest.skip("nothing is compiled", allow_module_level=True)

from difflogic.engine.kernels.llvm import moves

LANES, ROWS, LENGTH = 32, 20, 192
"""Lanes and rows of a tile, and the length of a grid's row."""


@cache
def compiled(name):
    """Return a move as a kernel of (arrays, integers)."""
    move = getattr(moves, name)
    return numba.njit(lambda arrays, integers: move(arrays, integers, LANES))


def copied(array):
    copy = aligned(array.shape, array.dtype)
    copy[...] = array
    return copy


def check(name, arrays, integers):
    """Both moves change the same elements, and some at all."""
    ours, theirs = (tuple(map(copied, arrays)) for _ in range(2))
    compiled(name)(ours, integers)
    getattr(plain, name)(theirs, integers, LANES)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert any((mine != array).any() for mine, array in zip(ours, arrays, strict=True))


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def tile(rng):
    return rng.standard_normal(ROWS * LANES).astype(np.float32)


@pytest.fixture
def grid(rng):
    return rng.standard_normal((ROWS, LENGTH)).astype(np.float32)


@pytest.mark.parametrize("first", [64, 63, 81])
@pytest.mark.parametrize(("corrections", "count"), [(0, 32), (3, 32), (5, 19)])
def test_rows_that_a_neighbour_has(tile, grid, rng, first, corrections, count):
    lanes = rng.permutation(count)[:7].astype(np.int32)
    sources = rng.integers(0, LENGTH, 7).astype(np.int32)
    # The first two corrections belong to another neighbour; the last row is the grid's last.
    integers = first, 2, 2 + corrections, count, ROWS - 6, 6, 3
    check("rows_seen", (tile, grid, lanes, sources), integers)


@pytest.mark.parametrize(("parts", "adds"), [(9, 0), (9, 1), (0, 0), (1, 1)])
def test_sums_of_parts(tile, rng, parts, adds):
    numbers = rng.permutation(ROWS).astype(np.int32)
    other = rng.standard_normal((2 + 9 * 5 + 4) * LANES).astype(np.float32)
    check("rows_added", (tile, other, numbers), (1, 5, parts, 2, 5, adds))


def test_rows_written_to_a_grid(tile, grid, rng):
    numbers = rng.permutation(ROWS).astype(np.int32)
    check("rows_left", (tile, grid, numbers), (3, ROWS, 64))
