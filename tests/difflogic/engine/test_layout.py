"""Layouts of cells in tiles and chunks."""

import numpy as np
import pytest

from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.engine.hardware import USUAL_L2, Machine
from difflogic.engine.layout import SLOTS, Grid, automatic_lanes, make_layout, samples_per_group
from difflogic.system.jit.processor import AVX, AVX512, NEON, SSE


@pytest.mark.parametrize(
    ("cells", "lanes", "widths"),
    [
        (16, 64, [16]),
        (17, 64, [32]),
        (48, 64, [32, 16]),
        (65, 64, [64, 16]),
        (40, 32, [32, 16]),
        (20, 16, [16, 16]),
    ],
)
def test_the_remainder_goes_into_few_lanes(cells, lanes, widths):
    # Add a whole tile, since small grids would share one with other samples.
    layout = make_layout(Grid(1, 64 + cells, "zero"), lanes, None)
    assert layout.tile_lanes.tolist() == [lanes] * (64 // lanes) + widths


def test_small_grids_share_a_tile():
    counts = {(1, 1): 64, (3, 3): 7, (8, 8): 1, (5, 7): 1, (4, 8): 2, (20, 20): 1}
    for (height, width), samples in counts.items():
        assert samples_per_group(Grid(height, width, "zero")) == samples


def test_chunks_are_bounded():
    assert len(make_layout(Grid(16, 16, "zero"), 16, None).chunk_start) - 1 == 16
    assert len(make_layout(Grid(64, 64, "zero"), 16, None).chunk_start) - 1 == SLOTS


@pytest.mark.parametrize(
    ("size", "rows", "itemsize", "processor", "cache", "lanes"),
    [
        ((16, 16), 3731, 4, AVX512, 2048, 64),  # the checkerboard
        ((16, 16), 3731, 4, AVX512, 1024, 32),
        ((16, 16), 3731, 4, NEON, None, 32),
        ((16, 16), 3731, 4, SSE, 256, 32),
        ((20, 20), 9987, 4, AVX, 512, 16),
        ((16, 16), 3731, 8, AVX512, 2048, 32),  # in float64 a tile would leave the cache
        ((8, 10), 100, 4, AVX512, 2048, 32),  # 80 cells: two and a half tiles of 32
    ],
)
def test_automatic_lanes(size, rows, itemsize, processor, cache, lanes):
    machine = Machine(cores=1, l2=(cache and 1024 * cache) or USUAL_L2, vector=processor.width)
    assert automatic_lanes(Grid(*size, "zero"), rows, itemsize, machine) == lanes


@pytest.mark.parametrize("boundary", ["zero", "periodic"])
@pytest.mark.parametrize(
    ("size", "chunk"), [((16, 16), 1), ((5, 13), 1), ((20, 20), 2), ((3, 3), 1)]
)
def test_chunks_list_the_chunks_that_they_see(size, chunk, boundary):
    grid = Grid(*size, boundary)
    layout = make_layout(grid, 16, chunk)
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
