"""Gradients of a hard circuit: the same as the engine's, but from bits and live gates alone.

A gate of a hard circuit has the value 0 or 1, and passes its slope on unchanged, negated or not at
all. If the loss has integer slopes, all numbers of the backward pass are therefore integers. As
long as those of one cell fit a float32, their sums are the same in any order. So values can be
bits, and the backward pass visits only gates that the loss depends on and that have a slope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.hard_simulator import (
    HardSimulator,
    mark_live,
    row_ops,
    smallest,
    steps_per_call,
)
from difflogic.engine.hard.slope_memory import CELLS, most_slopes
from difflogic.engine.kernels.candidate_base import ABSENT
from difflogic.engine.kernels.hard import read_values
from difflogic.engine.kernels.hard_gradients import HardNetlist, Slopes, WayBack, differentiate
from difflogic.system.array_types import Array, Bits, Float32s, Float64s, Int32s, Words
from difflogic.system.work import heartbeat

BACKWARD_COST = 16
"""Time of a gate in the backward pass, relative to the forward pass, about."""


class HardGradients:
    """Differentiates hard circuits of one netlist, for up to `batch` samples at a time.

    The result is exact unless a cell's slope by some gate reaches 2**22. Then it is rounded, in the
    same way on every machine.
    """

    def __init__(self, netlist: Netlist, grid: Grid, steps: int, batch: int) -> None:
        self._netlist = netlist
        self._grid = grid
        self._steps = steps
        self._batch = batch
        self._simulator = simulator = HardSimulator(netlist, grid, batch, steps + 1)
        inputs = netlist.inputs
        rows = netlist.rows
        channels = netlist.channels
        self._a, self._b, self._param = netlist.wires
        slots = most_slopes(netlist)
        self._slopes = Slopes(
            # Memory costs nothing until it is written.
            rows=np.empty(slots * CELLS, np.float32),
            place=np.full(rows, ABSENT, np.int64),
            free=CELLS * np.arange(slots)[::-1].copy(),
            room=np.full(1, slots),
            handed=np.empty(inputs, np.int32),
            inputs=np.zeros(1, np.int64),
            states=np.zeros((2, channels, 64 * simulator.shape[1]), np.float32),
            found=np.empty(4),
            sums=np.zeros((netlist.parameters, 4)),
            kept_at=np.full(rows, ABSENT, np.int32),
            kept=np.empty((0, 0), np.float32),
        )

    def begin(self, ops: Bits, channels: Sequence[int], read: Int32s | None = None) -> None:
        """Load a circuit, `ops` (parameters,), with a loss that depends on `channels`.

        The rows `read` get values too, for `trace`.
        """
        netlist = self._netlist
        marks = mark_live(netlist, ops, channels)
        order = np.flatnonzero(marks.live[netlist.inputs :])[::-1] + netlist.inputs
        # Inputs that an op ignores count too: the gradient is by all coefficients of a gate.
        wired = [self._a[order], self._b[order]] + ([] if read is None else [read])
        values = self._simulator.load(ops, (), np.concatenate(wired)).values
        self._graph = HardNetlist(
            a=self._a,
            b=self._b,
            value=values,
            param=self._param,
            outputs=netlist.outputs.astype(np.int32),
            op=row_ops(netlist, ops),
            order=order.astype(np.int32),
            channels=np.flatnonzero(marks.channels).astype(np.int32),
        )
        self._slopes.sums[:] = 0.0

    def add(self, starts: Bits, slope: Array, channels: Sequence[int], masks: Bits | None) -> None:
        """Add the gradients of some samples.

        `starts` and `masks` are as in `Engine.forward`. `slope` is dL/d(last states), shape
        (samples, len(channels), H, W).
        """
        self._differentiate(starts, {self._steps: slope}, channels, masks)

    def values(self, starts: Bits, read: Int32s) -> Words:
        """Return the values of the rows `read` as `trace` does, without a backward pass."""
        self._run_from(starts, None)
        return self._read(read)

    def trace(
        self,
        starts: Bits,
        slopes: Mapping[int, Array],
        channels: Sequence[int],
        read: Int32s,
        kept: Int32s,
    ) -> tuple[Words, Float32s]:
        """Return the values of the rows `read`, and the slopes of the rows `kept`.

        Values have shape (len(read), steps, words), packed as by a simulator. Slopes have shape
        (len(kept), steps, 64 · words): dL/d(value) of one cell at one step. `slopes` maps steps to
        dL/d(states), each as in `add`. Pass `read` to `begin` first.
        """
        found = np.zeros((len(kept), self.points), np.float32)
        kept_at = np.full(self._netlist.rows, ABSENT, np.int32)
        kept_at[kept] = np.arange(len(kept))
        plain = self._slopes
        self._slopes = plain._replace(kept_at=kept_at, kept=found)
        try:
            self._differentiate(starts, slopes, channels, None)
        finally:
            self._slopes = plain
        return self._read(read), found.reshape(len(kept), self._steps, 64 * self._simulator.words)

    @property
    def counted(self) -> Words:
        """A mask of the bits that belong to samples' cells, shape (words,)."""
        ones = np.ones((self._batch, 1, self._grid.height, self._grid.width), np.uint8)
        mask: Words = self._simulator.pack_states(ones)[0]
        return mask

    def _differentiate(
        self, starts: Bits, seeds: Mapping[int, Array], channels: Sequence[int], masks: Bits | None
    ) -> None:
        """Run some samples forward and back, given dL/d(states) of some steps as `seeds`."""
        fires = self._run_from(starts, masks)
        pad = self._simulator.cells.pad
        cells = len(starts) * self._grid.cells
        self._slopes.states[:] = 0.0
        end = self._steps
        for first in [*sorted(seeds, reverse=True)[1:], 0]:
            after = self._slopes.states[end % 2]
            for place, channel in enumerate(channels if end in seeds else ()):
                after[channel, 64 * pad : 64 * pad + cells] += seeds[end][:, place].ravel()
            self._run_backward(fires, -(-cells // 64), first, end)
            end = first

    def _run_from(self, starts: Bits, masks: Bits | None) -> Words:
        """Run some samples forward; return the packed masks, for the way back."""
        simulator = self._simulator
        simulator.state[:] = simulator.pack_states(self._filled(starts))
        script = simulator.script(self._steps, None if masks is None else self._filled(masks))
        simulator.roll(script)
        return script.fires

    def _read(self, read: Int32s) -> Words:
        """Return the values of rows in the last forward pass, shape (len(read), steps, words)."""
        values = np.empty((self._steps, len(read), self._simulator.words), np.uint64)
        read_values(self._simulator.hard_run, self._graph.value[read], values)
        return values.swapaxes(0, 1)

    def _filled(self, batch: Bits) -> Bits:
        """Fill a batch up with zeros to the simulator's number of samples."""
        missing = self._batch - len(batch)
        return np.concatenate([batch, np.zeros((missing, *batch.shape[1:]), batch.dtype)])

    @property
    def points(self) -> int:
        """Cells of all steps, including the padding of the words."""
        return 64 * self._steps * self._simulator.words

    def _run_backward(self, fires: Words, words: int, begin: int, end: int) -> None:
        """Go back from the state before step `end` to the state before step `begin`."""
        simulator = self._simulator
        gates = simulator.active_gates + BACKWARD_COST * len(self._graph.order)
        way = WayBack(self._graph, simulator.hard_run, fires, self._slopes)
        per_call = steps_per_call(gates, simulator.words)
        for last in range(end, begin, -per_call):
            heartbeat("gradient", self._steps - last, self._steps)
            differentiate(way, words, max(begin, last - per_call), last)

    @property
    def gradients(self) -> Float64s:
        """dL/d(coefficients), shape (parameters, 4), summed over all samples added."""
        return self._slopes.sums


def load_kernels() -> None:
    """Compile or load the kernels, which are the same for every size."""
    simulator, ops = smallest()
    hard = HardGradients(simulator.netlist, simulator.grid, 1, 1)
    read = np.array([simulator.netlist.inputs], np.int32)
    hard.begin(ops, (0,), read)
    nothing = np.zeros((1, 1, 1, 1), np.uint8)
    hard.values(nothing, read)
    hard.add(nothing, np.ones((1, 1, 1, 1)), (0,), None)
