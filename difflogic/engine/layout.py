"""How the cells of a batch are laid out in memory and cut into pieces of work.

A *group* is as many samples as fit a tile (one, unless the grid is small). Its cells are numbered
consecutively. A *tile* is 16, 32 or 64 of them, side by side in the lanes of vectors. The gate sums
of a run of tiles share a *slot*. All of this follows from the problem, never from the number of
workers, so that results are bit-identical. A *chunk* is what one worker processes together: the
tiles of one slot, or of several.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import OFFSETS, OUTSIDE, Boundary, neighbors
from difflogic.engine.hardware import Machine
from difflogic.engine.kernels import structures as k

SLOTS = 32
"""Most slots per group, unless the configuration sets them. Each has four numbers per gate."""


@dataclass(frozen=True)
class Grid:
    """The cells of one sample."""

    height: int
    width: int
    boundary: Boundary

    @property
    def cells(self) -> int:
        return self.height * self.width


def samples_per_group(grid: Grid) -> int:
    """Return how many samples fit the widest tile, at least one."""
    return max(1, k.MAX_LANES // grid.cells)


def automatic_lanes(grid: Grid, rows: int, itemsize: int, machine: Machine) -> int:
    """Choose the lanes of a tile with `rows` rows of values and gradients.

    More lanes spread the fixed work per gate, as long as four vectors of each row fit the
    registers: 64 lanes for AVX-512, 32 for others (measured: docs/performance.md). A tile should
    fit the second-level cache, and a grid needs enough tiles to share.
    """
    cells = grid.cells * samples_per_group(grid)
    cache = machine.l2
    most = min(k.MAX_LANES, max(32, 4 * machine.vector // np.dtype(np.float32).itemsize))
    for lanes in (lanes for lanes in (64, 32) if lanes <= most):
        # Leave room for other data: 64 lanes of the letter G fill 92 % of 2 MB, and 32 are 4 %
        # faster.
        fits = rows * lanes * itemsize <= 7 * cache // 8
        shares_evenly = cells % (2 * lanes) == 0 or cells >= 8 * lanes or cells <= lanes
        if fits and shares_evenly:
            return lanes
    return 32 if rows * 32 * itemsize <= 2 * cache else 16


def automatic_chunk(tiles: int) -> int:
    """Choose the tiles of a slot: one, unless the group has more tiles than `SLOTS`.

    Small pieces balance better. The choice must follow from the problem alone, since the cut
    decides the order in which gate sums are added.
    """
    return -(-tiles // SLOTS)


def tile_lanes(grid: Grid, lanes: int) -> list[int]:
    """Return the lanes of each tile of a group of samples, of at most `lanes`."""
    return _cut(samples_per_group(grid) * grid.cells, lanes)[1]


def make_layout(
    grid: Grid, lanes: int, chunk: int | None, waits_for_all: bool = False, joined: int = 1
) -> k.Layout:
    """Lay out one group of samples in tiles of at most `lanes`, `chunk` tiles to a slot.

    A chunk has `joined` slots. With `waits_for_all`, it waits for all others of its group after
    each step.
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
    tile_start, tile_lanes = _cut(cells, lanes)
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
    per_slot = chunk or automatic_chunk(tiles)
    chunk_start = np.array([*range(0, tiles, joined * per_slot), tiles], dtype=np.int32)
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
        slot_tiles=per_slot,
        seen_start=seen_start,
        seen=seen,
    )


def _chunks_seen(
    stacked: npt.NDArray[np.integer], first_cells: npt.NDArray[np.integer], all_of_them: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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


def _cut(cells: int, lanes: int) -> tuple[list[int], list[int]]:
    """Cut cells into tiles of `lanes`, and the remainder into as few lanes as possible."""
    starts, widths = [], []
    start = 0
    while cells - start >= lanes:
        starts.append(start)
        widths.append(lanes)
        start += lanes
    while start < cells:
        left = cells - start
        width = next(w for w in k.LANES if w >= left or w == lanes)
        if left <= 48 < width:
            width = 32
        starts.append(start)
        widths.append(width)
        start += width
    return starts, widths


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
