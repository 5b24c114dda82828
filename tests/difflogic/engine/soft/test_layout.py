"""Layouts of cells in tiles and chunks."""

import numpy as np
import pytest

from difflogic.circuit.grid import OUTSIDE, Grid, neighbors
from difflogic.engine.soft.layout import CHUNKS, make_layout, samples_per_group
from tests.marks import each_boundary


@pytest.mark.parametrize(
    ("cells", "widths"), [(16, [16]), (17, [32]), (48, [32, 16]), (49, [64]), (65, [64, 16])]
)
def test_the_remainder_goes_into_few_lanes(cells, widths):
    # Add a whole tile, since small grids would share one with other samples.
    layout = make_layout(Grid(1, 64 + cells, "zero"))
    assert layout.tile_lanes.tolist() == [64, *widths]


def test_small_grids_share_a_tile():
    counts = {(1, 1): 64, (3, 3): 7, (8, 8): 1, (5, 7): 1, (4, 8): 2, (20, 20): 1}
    for (height, width), samples in counts.items():
        assert samples_per_group(Grid(height, width, "zero")) == samples


def test_chunks_are_bounded():
    assert len(make_layout(Grid(32, 32, "zero")).chunk_start) - 1 == 16
    assert len(make_layout(Grid(64, 64, "zero")).chunk_start) - 1 == CHUNKS


@each_boundary
@pytest.mark.parametrize("size", [(16, 16), (5, 13), (33, 64), (3, 3)])
def test_chunks_list_the_chunks_that_they_see(size, boundary):
    grid = Grid(*size, boundary)
    layout = make_layout(grid)
    samples = samples_per_group(grid)
    ends = [*layout.tile_start[layout.chunk_start[1:-1]].tolist(), layout.cells]
    owner = [next(c for c, end in enumerate(ends) if cell < end) for cell in range(layout.cells)]
    expected = [set() for _ in ends]
    for sample in range(samples):
        first = sample * grid.cells
        for places in neighbors(*size, boundary):
            for cell, place in enumerate(places):
                if place != OUTSIDE:
                    expected[owner[first + cell]].add(owner[first + int(place)])
    found = np.split(layout.seen, layout.seen_start[1:-1])
    assert [set(chunks.tolist()) for chunks in found] == expected
    # A pipeline relies on this: a chunk waits for the chunks that read it.
    assert all(c in expected[other] for c, others in enumerate(expected) for other in others)
