import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.grid import OFFSETS, OUTSIDE, neighbors

MODES = {"zero": {"mode": "constant", "constant_values": OUTSIDE}, "periodic": {"mode": "wrap"}}


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["zero", "periodic"]))
def test_neighbors_are_those_of_the_padded_grid(height, width, boundary):
    cells = np.arange(height * width).reshape(height, width)
    padded = np.pad(cells, 1, **MODES[boundary])
    expected = [
        padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width].ravel() for dy, dx in OFFSETS
    ]
    np.testing.assert_array_equal(neighbors(height, width, boundary), expected)


@pytest.mark.parametrize("boundary", ["zero", "periodic"])
def test_neighbour_8_minus_n_is_the_way_back(boundary):
    """The backward pass relies on it."""
    table = neighbors(3, 5, boundary)
    for n in range(9):
        assert (-OFFSETS[n][0], -OFFSETS[n][1]) == OFFSETS[8 - n]
        for cell, there in enumerate(table[n]):
            assert there == OUTSIDE or table[8 - n, there] == cell


def test_one_cell():
    assert neighbors(1, 1, "periodic").tolist() == [[0]] * 9
    assert neighbors(1, 1, "zero").ravel().tolist() == [OUTSIDE] * 4 + [0] + [OUTSIDE] * 4
