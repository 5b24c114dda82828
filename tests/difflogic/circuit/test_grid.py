import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.grid import OFFSETS, OUTSIDE, Walls, neighbors, shifts
from tests.examples import any_boundary

MODES = {"zero": {"mode": "constant", "constant_values": OUTSIDE}, "periodic": {"mode": "wrap"}}


@given(st.integers(1, 9), st.integers(1, 9), any_boundary)
def test_neighbors_are_those_of_the_padded_grid(height, width, boundary):
    cells = np.arange(height * width).reshape(height, width)
    padded = np.pad(cells, 1, **MODES[boundary])
    expected = [
        padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width].ravel() for dy, dx in OFFSETS
    ]
    np.testing.assert_array_equal(neighbors(height, width, boundary), expected)


@given(st.integers(1, 7), st.integers(1, 7), st.sampled_from(["zero", "periodic", "walls"]))
def test_shifts_lead_each_cell_to_its_neighbours(height, width, boundary):
    """Row by row and column by column, without the table of neighbours."""
    tops = [0, height // 2, height] if boundary == "walls" else [0, height]
    lefts = [0, width // 3, width] if boundary == "walls" else [0, width]
    parts = [np.diff(edges)[np.diff(edges) > 0].tolist() for edges in (tops, lefts)]
    walls = Walls(*map(tuple, parts)) if boundary == "walls" else boundary
    found = shifts(height, width, walls)
    part_of = [np.repeat(range(len(sizes)), sizes) for sizes in parts]
    for (dy, dx), views in zip(OFFSETS, found, strict=True):
        for y, x in np.ndindex(height, width):
            cell = y * width + x
            seen = {cell + far for far, cells in views if cells[cell]}
            v = y + dy
            u = x + dx
            if boundary == "periodic":
                wanted = {v % height * width + u % width}
            elif not (0 <= v < height and 0 <= u < width):
                wanted = set()
            else:
                same = part_of[0][v] == part_of[0][y] and part_of[1][u] == part_of[1][x]
                wanted = {v * width + u} if same else set()
            assert seen == wanted
            assert sum(bool(cells[cell]) for _, cells in views) == len(wanted)
