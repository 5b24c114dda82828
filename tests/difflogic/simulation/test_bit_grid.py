import hashlib

import numpy as np
import pytest

from difflogic.simulation import bit_grid
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.simulator import require_memory
from difflogic.system import memory
from difflogic.system.errors import ConfigError
from tests.difflogic.simulation import naive
from tests.marks import each_boundary


def test_the_size_of_bands_does_not_matter(monkeypatch):
    bits = np.random.default_rng(0).integers(0, 2, (2, 50, 70), np.uint8)
    found = []
    for size in (1, 3000, 2**20):
        monkeypatch.setattr(bit_grid, "_BAND_BYTES", size)
        grid = BitGrid(Geometry(2, 50, 70, "zero"))
        naive.load(grid, bits)
        np.testing.assert_array_equal(grid.bits(), bits)
        assert grid.populations() == bits.sum(axis=(1, 2)).tolist()
        found.append(grid.digest([1, 0]))
    assert len(set(found)) == 1
    packed = np.zeros((50, 2, 128), np.uint8)
    packed[..., :70] = bits[[1, 0]].swapaxes(0, 1)
    content = b"2x50x70" + np.packbits(packed, axis=2, bitorder="little").tobytes()
    assert found[0] == hashlib.sha256(content).hexdigest()


def test_grids_larger_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    require_memory(Geometry(1, 4096, 4096, "zero"))
    with pytest.raises(ConfigError, match=r"need 250\.\d GB, but only 1\.0 GB are available"):
        require_memory(Geometry(1, 10**6, 10**6, "zero"))
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    require_memory(Geometry(1, 10**6, 10**6, "zero"))


@pytest.mark.parametrize("width", [1, 63, 65, 70, 128, 130])
@each_boundary
def test_only_cells_are_counted(width, boundary):
    """Words have bits beyond the last cell, which may be anything."""
    bits = np.random.default_rng(width).integers(0, 2, (2, 5, width), np.uint8)
    grid = BitGrid(Geometry(2, 5, width, boundary))
    naive.load(grid, bits)
    clean = grid.digest([0, 1])
    grid.words |= spare(grid)
    assert grid.populations() == bits.sum(axis=(1, 2)).tolist()
    assert grid.digest([0, 1]) == clean


def spare(grid):
    """Return words that have ones in no cell of a grid."""
    ones = BitGrid(grid.geometry)
    naive.load(ones, np.ones((2, 5, grid.geometry.width), np.uint8))
    return ~ones.words
