"""Gradients of a hard circuit: the same numbers as the engine's, from bits and live gates alone.

Every gate of a hard circuit has a value of 0 or 1, and hands on its slope as it is, negated or
not at all. So with a loss whose slopes are whole numbers every number of the way back is whole,
and as long as none is too large for a float32, sums of them are the same in any order. Then there
is no need to evaluate all gates as vectors of numbers: values are bits, and the way back meets
only the gates that the loss depends on, where they have a slope to hand on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import FORMS, GATE_WORDS_PER_CALL, Bits, HardSimulator, mark_live
from difflogic.engine.kernels.candidate_base import ABSENT
from difflogic.engine.kernels.hard_gradients import (
    CELLS,
    Graph,
    Slopes,
    differentiate,
    record,
)
from difflogic.engine.kernels.hard_structures import HARD_FIELDS, WORDS, HardCode
from difflogic.engine.layout import Grid
from difflogic.grid import NEIGHBORHOOD, OUTSIDE, neighbors
from difflogic.memory import aligned
from difflogic.netlist import Netlist
from difflogic.pauses import pause

LARGEST = 2.0**23
"""Below it all whole numbers are exact in float32, with a bit to spare for how this is found."""

BACKWARD = 16
"""Times that a gate takes as long on the way back as forward, about."""

_EVERY = np.full(WORDS, ~np.uint64(0))


class HardGradients:
    """Differentiates hard circuits of one netlist, for up to `batch` samples at a time."""

    def __init__(self, netlist: Netlist, grid: Grid, steps: int, batch: int) -> None:
        self._netlist, self._grid, self._steps, self._batch = netlist, grid, steps, batch
        self._simulator = simulator = HardSimulator(netlist, grid, batch)
        inputs, rows, channels = netlist.inputs, netlist.rows, netlist.channels
        self._states = np.zeros((steps + 1, *simulator.shape), np.uint64)
        self._tile = aligned((rows, WORDS), np.uint64)
        none = np.zeros(inputs, np.int32)
        self._a, self._b, self._param = (
            np.concatenate([none, of_gates]).astype(np.int32)
            for of_gates in (netlist.a, netlist.b, netlist.param)
        )
        every = np.arange(inputs)
        self._inputs = np.stack([every, *np.divmod(every, channels)], axis=1).astype(np.int32)
        pad = simulator.cells.pad
        cells = 64 * (simulator.shape[1] - 2 * pad)
        stride = cells + 64
        self._slopes = Slopes(
            np.empty(0, np.float32), stride, np.full(rows, ABSENT, np.int64),
            np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(inputs, np.int64),
            np.zeros((2, channels, cells), np.float32), self._find_viewers(cells),
            np.empty(5, np.float32), np.zeros((netlist.parameters, 4)), np.zeros(rows),
            np.zeros(channels),
        )  # fmt: skip

    def _find_viewers(self, cells: int) -> npt.NDArray[np.uint32]:
        """Return the cell to which each cell is that neighbour; the one beyond all if none."""
        viewers = np.full((NEIGHBORHOOD, cells), cells, np.uint32)
        table = neighbors(self._grid.height, self._grid.width, self._grid.boundary)
        for sample in range(self._batch):
            first = sample * self._grid.cells
            # What is my neighbour n sees me as its neighbour 8 - n.
            seen = np.where(table == OUTSIDE, cells, table + first)[::-1]
            viewers[:, first : first + self._grid.cells] = seen
        return viewers

    def begin(self, ops: npt.NDArray[np.uint8], channels: Sequence[int]) -> None:
        """Take a circuit, ops (parameters,), whose loss depends on the states of `channels`."""
        netlist, slopes = self._netlist, self._slopes
        live, alive = mark_live(netlist, ops, channels)
        order = np.flatnonzero(live[netlist.inputs :])[::-1] + netlist.inputs
        op = np.concatenate([np.zeros(netlist.inputs, np.uint8), ops[netlist.param]])
        self._graph = Graph(
            self._a, self._b, self._param, netlist.outputs.astype(np.int32), op,
            order.astype(np.int32), np.flatnonzero(alive).astype(np.int32),
        )  # fmt: skip
        gates = np.empty((netlist.gates, HARD_FIELDS), np.int32)
        gates[:, 0], gates[:, 1], gates[:, 2] = netlist.a, netlist.b, op[netlist.inputs :]
        every = np.arange(netlist.channels, dtype=np.int32)
        self._code = HardCode(gates, self._inputs, every, self._graph.outputs)
        first = netlist.inputs * slopes.stride
        if len(slopes.rows) < first + len(order) * CELLS:
            # Memory that nothing is written to costs nothing.
            slots = min(2 * len(order), netlist.gates)
            rows = np.empty(first + slots * CELLS, np.float32)
            free = first + CELLS * np.arange(slots)[::-1].copy()
            self._slopes = slopes = slopes._replace(rows=rows, free=free)
            slopes.room[0] = slots
        for sums in (slopes.sums, slopes.totals, slopes.carried):
            sums[:] = 0.0

    def add(
        self, starts: Bits, slope: npt.NDArray, channels: Sequence[int], masks: Bits | None
    ) -> None:
        """Add the gradients of some samples, as `Engine.forward` and `backward` are given them.

        `slope` (samples, len(channels), H, W) is whole numbers: dL/d(last states).
        """
        simulator, slopes, steps = self._simulator, self._slopes, self._steps
        count, cells = len(starts), self._grid.cells
        pad, (_, length) = simulator.cells.pad, simulator.shape
        self._states[0, :, pad : length - pad] = simulator.pack_states(self._filled(starts))
        fires = np.zeros((0, length - 2 * pad), np.uint64)
        if masks is not None:
            fires = simulator.pack_states(self._filled(masks))
        self._run_forward(fires)
        slopes.seen[:] = ABSENT
        after = slopes.states[steps % 2]
        after[:] = 0.0
        for place, channel in enumerate(channels):
            after[channel, : count * cells] = slope[:, place].ravel()
        self._run_backward(fires, -(-count * cells // 64))

    def _filled(self, batch: Bits) -> Bits:
        """Return as many samples as the simulator has; the others are zero."""
        missing = self._batch - len(batch)
        return np.concatenate([batch, np.zeros((missing, *batch.shape[1:]), batch.dtype)])

    def _per_call(self, passes: int) -> int:
        words = self._simulator.shape[1] - 2 * self._simulator.cells.pad
        return max(1, GATE_WORDS_PER_CALL // (passes * self._netlist.gates * words))

    def _run_forward(self, fires: npt.NDArray[np.uint64]) -> None:
        per_call, steps, cells = self._per_call(1), self._steps, self._simulator.cells
        for first in range(0, steps, per_call):
            if first:
                pause("rollout of the hard circuit", first, steps)
            record(
                self._code, cells, FORMS, fires, _EVERY, self._states, self._tile, first,
                min(first + per_call, steps),
            )  # fmt: skip

    def _run_backward(self, fires: npt.NDArray[np.uint64], words: int) -> None:
        per_call, steps, cells = self._per_call(BACKWARD), self._steps, self._simulator.cells
        for end in range(steps, 0, -per_call):
            if end < steps:
                pause("gradient", steps - end, steps)
            differentiate(
                self._graph, self._code, cells, FORMS, fires, self._states, self._tile,
                self._slopes, words, max(0, end - per_call), end,
            )  # fmt: skip

    def gradients(self) -> npt.NDArray[np.float64] | None:
        """Return dL/d(coefficients) (parameters, 4) of all that was added, exactly.

        None if some sum on the way may have been too large for a float32.
        """
        return self._slopes.sums if self._bound() < LARGEST else None

    def _bound(self) -> float:
        """Return a bound of all sums on the way, in whatever order; NaN if there is none."""
        netlist, slopes = self._netlist, self._slopes
        totals, inputs, channels = slopes.totals, netlist.inputs, netlist.channels
        # A gate hands each input at most what it has.
        handed = np.bincount(self._a, totals, netlist.rows)
        handed += np.bincount(self._b, totals, netlist.rows)
        by_state = handed[:inputs].reshape(NEIGHBORHOOD, channels).sum(axis=0) + slopes.carried
        of_gates = np.bincount(netlist.param, totals[inputs:])
        return float(max(handed.max(), by_state.max(), of_gates.max()))


def warm_up(netlist: Netlist, ops: npt.NDArray[np.uint8]) -> None:
    """Compile or load the kernels; they are the same for any size."""
    hard = HardGradients(netlist, Grid(1, 1, "zero"), 1, 1)
    hard.begin(ops, (0,))
    hard.add(np.zeros((1, netlist.channels, 1, 1), np.uint8), np.ones((1, 1, 1, 1)), (0,), None)
