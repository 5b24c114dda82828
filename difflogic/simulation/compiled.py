"""Runs a circuit's machine code on threads: the grid in bands of rows, the steps in blocks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.simulation import native
from difflogic.simulation.bit_grid import LINE, BitGrid, Geometry
from difflogic.simulation.random_bits import Chance, digits
from difflogic.simulation.run_function import ROWS_KEPT, Field
from difflogic.system.array_types import Words
from difflogic.system.arrays import aligned
from difflogic.system.work import may_cancel

if TYPE_CHECKING:
    from difflogic.engine.workers import Workers

CALL_SECONDS = 0.2
"""Target length of one call: Ctrl-C waits until it ends."""

BANDS_PER_WORKER = 4
"""Bands of rows per thread, so that nobody waits long for a slow neighbour."""

BAND_ROWS = 512
"""Most rows of a band, so that a call can be short on any grid."""

RING_BYTES = 2**20
"""Memory for the rows that a worker keeps within a block: half a typical second-level cache."""

MAX_DEPTH = 8
"""Most steps of a block; more did not help even if all rows fit into the cache."""

ROWS_PER_STEP = 16
"""Fewest rows of a band per step of a block, so that neighbours compute few rows twice."""


class Compiled:
    """Takes steps of a circuit by machine code; threads draw bands of rows in order."""

    def __init__(self, circuit: Circuit, geometry: Geometry, chance: Chance, workers: int) -> None:
        self._native = native.native(circuit)
        self._yield = native.yield_address()
        self._geometry = geometry
        self._chance = chance
        self._bands, self._depth = choose_bands(geometry, workers)
        self._ticket_seconds: float | None = None
        self._count = workers
        self._workers: Workers | None = None
        self._vectors = -(-geometry.words // self._native.vector_words)
        self._ring = LINE * -(-self._vectors * self._native.vector_words // LINE)
        rows = (self._depth - 1) * ROWS_KEPT
        size = self._ring + rows * geometry.channels * geometry.stride + LINE
        self._scratch = [aligned((size,), np.uint64) for _ in range(workers)]
        # The last cache line holds the next ticket.
        self._done = aligned(((self._bands + 1) * LINE,), np.uint64)
        self._labels = np.array(chance.noise.labels if chance.noise else (), np.uint64)
        self._parameters = self._fields()
        own = self._parameters.ctypes.data
        self._calls = [(own, scratch.ctypes.data) for scratch in self._scratch]

    def __enter__(self) -> Compiled:
        if self._count > 1:
            from difflogic.engine.workers import Workers

            self._workers = Workers(self._count)
            self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._workers is not None:
            self._workers.__exit__(*raised)
            self._workers = None

    def take(self, source: BitGrid, target: BitGrid, step: int, most: int) -> tuple[int, int]:
        """Take one to `most` steps from `source`, for about CALL_SECONDS.

        Returns the number of steps taken and of grid swaps. If a long block is
        stopped, `source` is unchanged.
        """
        depth = min(self._depth, most)
        blocks = max(1, min(most // depth, self._tickets() // self._bands))
        self._done[:] = 0
        parameters = self._parameters
        parameters[Field.SOURCE] = source.address
        parameters[Field.TARGET] = target.address
        parameters[Field.DEPTH] = depth
        parameters[Field.FIRST_STEP] = step
        first = 0
        end = blocks * self._bands
        while first < end:
            last = end if blocks > 1 else min(end, first + self._tickets())
            self._done[-LINE] = first
            parameters[Field.TICKETS] = last
            self._call(last - first)
            first = last
            if first < end:
                may_cancel()
        return blocks * depth, blocks

    def _tickets(self) -> int:
        """Return how many tickets fit into one call, judging by the last call."""
        if self._ticket_seconds is None:
            return self._count
        return max(self._count, int(CALL_SECONDS / max(self._ticket_seconds, 1e-9)))

    def _call(self, tickets: int) -> None:
        started = time.perf_counter()
        if self._workers is None:
            self._native.run(*self._calls[0])
        else:
            self._workers.run(self._native.run, self._calls)
        self._ticket_seconds = (time.perf_counter() - started) / tickets

    def _fields(self) -> Words:
        """Return the parameters of all calls; the others are 0."""
        g = self._geometry
        fire = self._chance.fire
        noise = self._chance.noise
        seed, limit = fire or (0, 0)
        periodic = g.boundary == "periodic"
        full_rows = g.width % (64 * self._native.vector_words) == 0
        fields = {
            Field.TICKET: self._done.ctypes.data + 8 * LINE * self._bands,
            Field.DONE: self._done.ctypes.data,
            Field.BANDS: self._bands,
            Field.HEIGHT: g.height,
            Field.ROW_STRIDE: g.channels * g.stride,
            Field.CHANNEL_STRIDE: g.stride,
            Field.VECTORS: self._vectors,
            Field.RING: self._ring,
            Field.LAST_WORD: g.words - 1,
            Field.LAST_MASK: g.last_mask,
            Field.LAST_BIT: g.last_bit,
            Field.GHOST_WORD: g.width // 64,
            Field.GHOST_BIT: g.width % 64,
            Field.PERIODIC: periodic,
            Field.ENDS: periodic or not full_rows,
            Field.ASYNCHRONOUS: fire is not None,
            Field.SEED: seed,
            Field.THRESHOLD: limit,
            Field.DIGITS: digits(limit),
            Field.YIELD: self._yield,
        }
        if noise is not None:
            fields[Field.LABELS] = self._labels.ctypes.data
            fields[Field.NOISE_SEED] = noise.key
            fields[Field.NOISE_THRESHOLD] = noise.threshold
            fields[Field.NOISE_DIGITS] = digits(noise.threshold)
        return np.array([fields.get(field, 0) for field in Field], np.uint64)


def choose_bands(geometry: Geometry, workers: int) -> tuple[int, int]:
    """Return the number of bands of a grid, and of steps in a block.

    Bands are high enough that few rows are computed twice, and the rows that a block keeps fit
    into the cache.
    """
    height = geometry.height
    wanted = 1 if workers == 1 else BANDS_PER_WORKER * workers
    bands = min(height, max(wanted, -(-height // BAND_ROWS)))
    row = 8 * geometry.channels * geometry.stride
    kept = 1 + RING_BYTES // (ROWS_KEPT * row)
    return bands, max(1, min(MAX_DEPTH, kept, height // bands // ROWS_PER_STEP))
