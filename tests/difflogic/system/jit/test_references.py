"""Kernels read and write named tuples through pointers."""

from typing import NamedTuple

import numpy as np
import pytest

from difflogic.system.jit import JIT, by_reference, kernel, part


@by_reference
class Inner(NamedTuple):
    """A tuple within another one."""

    grid: np.ndarray
    scale: float


@by_reference
class Outer(NamedTuple):
    """Arrays of several kinds, a tuple, and numbers."""

    cube: np.ndarray
    turned: np.ndarray
    inner: Inner
    count: int
    doubled: bool


@part
def row_total(outer, plane, row):
    """Return the sum of a row of the cube."""
    total = 0.0
    for value in outer.cube[plane, row]:
        total += value
    return total


@kernel
def work(outer, found):
    """Use every field while the arrays are being written to."""
    for plane in range(outer.cube.shape[0]):
        for row in range(outer.cube.shape[1]):
            outer.cube[plane, row, 0] += outer.count
            found[plane, row] = row_total(outer, plane, row) * outer.inner.scale
            if outer.doubled:
                found[plane, row] *= 2
    outer.inner.grid[:] = outer.turned[1:]
    return outer.cube.size + outer.turned.strides[0] + outer.cube.strides[0]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


@pytest.mark.thorough
@pytest.mark.parametrize("doubled", [False, True])
def test_kernels_read_and_write_what_python_sees(doubled):
    cube = np.arange(24.0).reshape(2, 3, 4)
    turned = np.arange(12, dtype=np.int32).reshape(3, 4).T  # not C-contiguous
    outer = Outer(cube, turned, Inner(np.zeros((3, 3), np.int32), 0.5), 100, doubled)
    found = np.zeros((2, 3))
    expected = (cube.sum(axis=2) + 100) * (1.0 if doubled else 0.5)
    assert work(outer, found) == cube.size + turned.strides[0] + cube.strides[0]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(outer.inner.grid, turned[1:])
    assert cube[1, 2, 0] == 120


@pytest.mark.skipif(not JIT, reason="Python asks for no types")
def test_a_field_of_an_unknown_type_is_refused():
    outer = Outer("no cube", np.ones((2, 2)), Inner(np.ones((2, 2)), 1.0), 1, False)
    with pytest.raises(Exception, match=r"(?i)unicode|str"):
        work(outer, np.zeros((2, 3)))
