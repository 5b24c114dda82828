"""How the cells of a batch are laid out in memory and cut into pieces of work.

A *group* is as many samples as fit a tile (one, unless the grid is small). Its cells are numbered
consecutively. A *tile* is 64 of them, or 16 or 32 at a group's end, side by side in the lanes of
vectors. A *chunk* is what one worker processes together: a tile, or several. Its tiles add their
gate sums to one *slot*. All of this follows from the problem, never from workers or the processor,
so that results are bit-identical.
"""

from __future__ import annotations

import numpy as np

from difflogic.circuit.grid import OFFSETS, OUTSIDE, Grid, neighbors
from difflogic.engine.kernels import structures as k
from difflogic.system.array_types import Int32s, Ints

CHUNKS = 32
"""Most chunks of a group. Each has a slot of four numbers per gate."""


def samples_per_group(grid: Grid) -> int:
    """Return how many samples fit the widest tile, at least one."""
    return max(1, k.MAX_LANES // grid.cells)


def tiles_per_chunk(tiles: int) -> int:
    """Return the tiles of a chunk: one, unless the group has more tiles than `CHUNKS`.

    Small pieces balance better.
    """
    return -(-tiles // CHUNKS)


def tile_lanes(grid: Grid) -> list[int]:
    """Return the lanes of each tile of a group of samples."""
    return _cut(samples_per_group(grid) * grid.cells)[1]


def make_layout(grid: Grid, waits_for_all: bool = False) -> k.Layout:
    """Lay out one group of samples in tiles.

    With `waits_for_all`, a chunk waits for all others of its group after each step.
    """
    samples = samples_per_group(grid)
    table = neighbors(grid.height, grid.width, grid.boundary)
    cells = samples * grid.cells
    # Samples follow each other. No cell has a neighbour in another sample.
    stacked = np.concatenate(
        [np.where(table == OUTSIDE, OUTSIDE, table + s * grid.cells) for s in range(samples)],
        axis=1,
    )
    shifts = np.array([dy * grid.width + dx for dy, dx in OFFSETS], dtype=np.int32)
    lead = _lead(grid)
    tile_start, tile_lanes = _cut(cells)
    correction_start = np.zeros((len(tile_start), len(OFFSETS) + 1), dtype=np.int32)
    correction_lane: list[int] = []
    correction_source: list[int] = []
    for tile, (start, width) in enumerate(zip(tile_start, tile_lanes, strict=True)):
        own = np.arange(start, min(start + width, cells))
        correction_start[tile, 0] = len(correction_lane)
        for n, shift in enumerate(shifts):
            found = stacked[n, own]
            wrong = found != own + shift
            correction_lane.extend(np.flatnonzero(wrong).tolist())
            # Place 0 of a state is before the first cell and always zero.
            source = np.where(found == OUTSIDE, 0, found + lead)[wrong]
            correction_source.extend(source.tolist())
            correction_start[tile, n + 1] = len(correction_lane)
    tiles = len(tile_start)
    chunk_start = np.array([*range(0, tiles, tiles_per_chunk(tiles)), tiles], dtype=np.int32)
    first_cells = np.array(tile_start)[chunk_start[:-1]]
    seen_start, seen = _chunks_seen(stacked, first_cells, waits_for_all)
    return k.Layout(
        cells=cells,
        lead=lead,
        shifts=shifts,
        correction_start=correction_start,
        correction_lane=np.array(correction_lane, dtype=np.int32),
        correction_source=np.array(correction_source, dtype=np.int32),
        tile_start=np.array(tile_start, dtype=np.int32),
        tile_lanes=np.array(tile_lanes, dtype=np.int32),
        chunk_start=chunk_start,
        seen_start=seen_start,
        seen=seen,
    )


def _chunks_seen(stacked: Ints, first_cells: Ints, all_of_them: bool) -> tuple[Int32s, Int32s]:
    """List for each chunk the chunks that its cells see, or all of them.

    `stacked` (9, cells) are the cells' neighbours. Seeing is mutual, so the list also says which
    chunks see a chunk.
    """
    chunks = len(first_cells)
    owner = np.searchsorted(first_cells, np.arange(stacked.shape[1]), side="right") - 1
    sees = np.full((chunks, chunks), all_of_them)
    for neighbor in stacked:
        there = neighbor != OUTSIDE
        sees[owner[there], owner[neighbor[there]]] = True
    start = np.concatenate([[0], np.cumsum(sees.sum(axis=1))]).astype(np.int32)
    return start, np.nonzero(sees)[1].astype(np.int32)


def stride(grid: Grid) -> int:
    """Return the length of one channel of a group's state: cells, and margins for shifted tiles."""
    cells = samples_per_group(grid) * grid.cells
    return _round_up(_lead(grid) + cells + k.MAX_LANES + _reach(grid), k.MAX_LANES)


def _reach(grid: Grid) -> int:
    """Return the distance of a cell's farthest neighbour, counted in cells."""
    return grid.width + 1


def _lead(grid: Grid) -> int:
    """Return the places before the first cell: its neighbours, and one that stays zero."""
    return _round_up(_reach(grid) + 1, k.MAX_LANES)


def _cut(cells: int) -> tuple[list[int], list[int]]:
    """Cut cells into tiles of 64 lanes, and the remainder into as few lanes as possible."""
    starts = []
    widths = []
    start = 0
    while start < cells:
        left = cells - start
        width = next((w for w in k.LANES if w >= left), k.MAX_LANES)
        if 32 < left <= 48:
            width = 32
        starts.append(start)
        widths.append(width)
        start += width
    return starts, widths


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
