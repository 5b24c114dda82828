"""The hard automaton: 64 cells to a word, every gate a few bitwise instructions.

A hardened circuit is pruned first: most gates of a trained circuit only pass an input on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.engine import kernels as k
from difflogic.engine.layout import Grid
from difflogic.gates import COEFFICIENTS
from difflogic.grid import OUTSIDE, neighbors
from difflogic.netlist import Netlist

Bits = npt.NDArray[np.uint8]

# Over bits, the coefficients modulo 2 are the op's algebraic normal form.
_FORMS = np.where(COEFFICIENTS.astype(np.int64) % 2 == 1, ~np.uint64(0), np.uint64(0))


class HardSimulator:
    """Runs hardened circuits of one netlist on batches of one grid. Holds its buffers."""

    def __init__(self, netlist: Netlist, grid: Grid, batch: int) -> None:
        self.netlist, self.grid, self.batch = netlist, grid, batch
        self._bits = batch * grid.cells
        self._words = -(-self._bits // 64)
        self._shifts(neighbors(grid.height, grid.width, grid.boundary))
        reach = int(np.abs(self._shift).max())
        # Every shifted read stays inside: one word more for the bits that straddle two.
        self._pad = reach // 64 + 2
        shape = (2, netlist.channels, self._words + 2 * self._pad)
        self._states = np.zeros(shape, dtype=np.uint64)
        self._code = np.empty((netlist.gates, 3), dtype=np.int32)
        self._outputs = np.empty(netlist.channels, dtype=np.int32)
        self._tile = np.zeros((netlist.rows, k.WORDS), dtype=np.uint64)
        self.active_gates = 0

    def _shifts(self, table: npt.NDArray[np.int64]) -> None:
        """Express each neighbour as shifts of the whole batch, each under a mask of cells."""
        own = np.arange(self.grid.cells)
        start, shifts, masks = [0], [], []
        for places in table:
            distance = np.where(places == OUTSIDE, 0, places - own)
            for shift in np.unique(distance[places != OUTSIDE]):
                valid = (places != OUTSIDE) & (distance == shift)
                shifts.append(int(shift))
                masks.append(self._pack(np.tile(valid, self.batch)[None])[0])
            start.append(len(shifts))
        self._shift_start = np.array(start, dtype=np.int64)
        self._shift = np.array(shifts, dtype=np.int64)
        self._shift_masks = np.array(masks, dtype=np.uint64).reshape(-1, self._words)

    def _pack(self, rows: npt.NDArray) -> npt.NDArray[np.uint64]:
        """Pack (rows, bits) into (rows, words)."""
        padded = np.zeros((len(rows), self._words * 64), dtype=np.uint8)
        padded[:, : rows.shape[1]] = rows
        return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)

    def load(self, ops: npt.NDArray[np.uint8]) -> None:
        """Take the op of each parameter, shape (parameters,)."""
        netlist = self.netlist
        self.active_gates = k.prune(
            netlist.a, netlist.b, netlist.param, netlist.outputs, netlist.inputs, ops,
            self._code, self._outputs,
        )  # fmt: skip

    def rollout(self, starts: Bits, steps: int, masks: Bits | None = None) -> Bits:
        """Return the states after `steps` steps, shape (batch, C, H, W), as 0 and 1.

        `starts` has the same shape; `masks` (batch, steps, H, W) is 1 where a cell takes its new
        state. Call `load` first.
        """
        channels, pad, words = self.netlist.channels, self._pad, self._words
        by_channel = starts.reshape(self.batch, channels, -1).swapaxes(0, 1)
        self._states[0, :, pad : pad + words] = self._pack(by_channel.reshape(channels, -1))
        if masks is None:
            mask_words = np.zeros((steps, 0), dtype=np.uint64)
        else:
            by_step = masks.reshape(self.batch, steps, -1).swapaxes(0, 1)
            mask_words = self._pack(by_step.reshape(steps, -1))
        k.hard_rollout(
            self._code[: self.active_gates], self._outputs, _FORMS, self._shift_start,
            self._shift, self._shift_masks, mask_words, self._states, pad, self._tile,
        )  # fmt: skip
        packed = np.ascontiguousarray(self._states[steps % 2, :, pad : pad + words])
        bits = np.unpackbits(packed.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        shape = (channels, self.batch, self.grid.height, self.grid.width)
        return bits[:, : self._bits].reshape(shape).swapaxes(0, 1)
