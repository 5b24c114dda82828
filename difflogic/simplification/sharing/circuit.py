"""A circuit whose cells share what they compute: planes that are read at offsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import Op, bitwise
from difflogic.circuit.grid import NEIGHBORHOOD, OFFSETS, Boundary

MARGIN = 2
"""Cells beyond the grid for which planes are computed: none further out matters."""


@dataclass(frozen=True, eq=False)
class SharedCircuit:
    """Planes: values at every cell, each computed once, of which next states read several places.

    Planes 0 to C - 1 are the channels. Gate g makes plane C + g: at a cell it is `op[g]` of plane
    `a[g]` at that cell moved by `a_offset[g]` (rows down, columns right), and of plane `b[g]` at
    `b_offset[g]`; both planes come before its own. Channel c's next state is plane `outputs[c]` at
    the cell moved by `output_offset[c]`. Unfolded at one cell, nothing beyond the nine cells of its
    neighbourhood is read. Beyond a zero boundary channels are 0, and planes are what follows.
    """

    op: npt.NDArray[np.uint8]
    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]
    a_offset: npt.NDArray[np.int32]
    b_offset: npt.NDArray[np.int32]
    outputs: npt.NDArray[np.int32]
    output_offset: npt.NDArray[np.int32]
    labels: tuple[int, ...]

    @property
    def channels(self) -> int:
        return len(self.labels)

    @property
    def operations(self) -> int:
        """Gates per cell and step: what it costs to compute every plane once."""
        return len(self.op)

    def unfold(self) -> LogicCircuit:
        """Return the circuit of one cell: each plane computed at every place where it is read.

        Raises ValueError if it reads beyond the neighbourhood.
        """
        rows: dict[tuple[int, int, int], int] = {
            (channel, dy, dx): neighbor * self.channels + channel
            for neighbor, (dy, dx) in enumerate(OFFSETS)
            for channel in range(self.channels)
        }
        gates: list[tuple[int, int, int]] = []
        for plane, offset in zip(self.outputs.tolist(), self.output_offset.tolist(), strict=True):
            waiting = [(plane, *offset)]
            while waiting:
                instance = waiting[-1]
                if instance in rows:
                    waiting.pop()
                    continue
                missing = [read for read in self._reads(*instance) if read not in rows]
                if missing:
                    waiting += missing
                    continue
                one, other = (rows[read] for read in self._reads(*instance))
                gates.append((int(self.op[instance[0] - self.channels]), one, other))
                rows[instance] = NEIGHBORHOOD * self.channels + len(gates) - 1
        op, a, b = np.array(gates, np.int32).reshape(-1, 3).T
        places = zip(self.outputs.tolist(), self.output_offset.tolist(), strict=True)
        outputs = [rows[plane, dy, dx] for plane, (dy, dx) in places]
        return LogicCircuit(op.astype(np.uint8), a, b, np.array(outputs), self.labels)

    def _reads(self, plane: int, dy: int, dx: int) -> list[tuple[int, int, int]]:
        """Return what an instance of a plane reads, as instances."""
        gate = plane - self.channels
        if gate < 0:
            raise ValueError("a shared circuit reads beyond the neighbourhood of a cell")
        return [
            (int(wires[gate]), dy + int(offset[gate, 0]), dx + int(offset[gate, 1]))
            for wires, offset in ((self.a, self.a_offset), (self.b, self.b_offset))
        ]

    def step(self, state: npt.NDArray[np.bool_], boundary: Boundary) -> npt.NDArray[np.bool_]:
        """Return the state (C, H, W) after a step in which every cell fires: each plane once.

        This is the plain interpreter that says what the planes mean.
        """
        height, width = state.shape[1:]
        mode = "wrap" if boundary == "periodic" else "constant"
        planes = [np.pad(channel, MARGIN, mode=mode) for channel in state]  # type: ignore[call-overload]

        def seen(plane: int, offset: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
            return np.roll(planes[plane], -offset, axis=(0, 1))

        for gate in range(self.operations):
            one = seen(self.a[gate], self.a_offset[gate])
            other = seen(self.b[gate], self.b_offset[gate])
            planes.append(bitwise(Op(self.op[gate]), one, other))
        after = [seen(*output) for output in zip(self.outputs, self.output_offset, strict=True)]
        inside = slice(MARGIN, MARGIN + height), slice(MARGIN, MARGIN + width)
        return np.array([plane[inside] for plane in after])
