import numpy as np
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
