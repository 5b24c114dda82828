"""Grids of bits as Python integers: cell (y, x) of a plane is bit y · width + x.

One operation on integers computes one gate in every cell. This takes some ten nanoseconds for a few
hundred cells, less than the overhead of a NumPy call, and under a microsecond for 128×128 cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import OFFSETS, Boundary
from difflogic.circuit.xag import Kind, from_circuit

Planes = tuple[int, ...]
"""One plane per channel."""


@dataclass(frozen=True)
class Board:
    """A grid, or several independent `copies` of it."""

    height: int
    width: int
    boundary: Boundary
    copies: int = 1

    @cached_property
    def cells(self) -> int:
        """Cells of one copy."""
        return self.height * self.width

    @cached_property
    def full(self) -> int:
        """The plane of ones."""
        return (1 << self.cells * self.copies) - 1

    def repeated(self, plane: int) -> int:
        """Repeat the plane of one grid in every copy."""
        return plane * self._each

    def seen(self, plane: int, neighbor: int) -> int:
        """Return each cell's neighbour: 0 to 8 in row-major order, 4 is the cell itself."""
        found = 0
        for shift, mask in self.views[neighbor]:
            found |= (plane << shift if shift > 0 else plane >> -shift) & mask
        return found

    @cached_property
    def views(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each neighbour: shifts of the plane, each with a mask of the cells it is right for.

        The first shift is for cells away from the edges; the others wrap around edges.
        """
        return tuple(
            tuple(
                (rows_up * self.width + columns_up, rows & columns)
                for rows_up, rows in self._ways(dy, self.height, self._rows)
                for columns_up, columns in self._ways(dx, self.width, self._columns)
            )
            for dy, dx in OFFSETS
        )

    def _ways(self, offset: int, size: int, edges: tuple[int, int]) -> tuple[tuple[int, int], ...]:
        """Return shifts, in rows or columns, and the cells they are right for."""
        if not offset:
            return ((0, self.full),)
        edge = edges[offset < 0]
        inside = (-offset, self.full & ~edge)
        if self.boundary != "periodic":
            return (inside,)
        return inside, (offset * (size - 1), edge)

    @cached_property
    def _each(self) -> int:
        """The plane with a 1 in the first cell of every copy."""
        # By doubling; adding copies one by one would take quadratic time.
        ones, count = 1, 1
        while count < self.copies:
            more = min(count, self.copies - count)
            ones |= (ones & (1 << more * self.cells) - 1) << count * self.cells
            count += more
        return ones

    @cached_property
    def _rows(self) -> tuple[int, int]:
        """The plane of the last rows, and of the first rows."""
        row = (1 << self.width) - 1
        return self.repeated(row << (self.height - 1) * self.width), self.repeated(row)

    @cached_property
    def _columns(self) -> tuple[int, int]:
        """The plane of the last columns, and of the first columns."""
        first = sum(1 << y * self.width for y in range(self.height))
        return self.repeated(first << self.width - 1), self.repeated(first)

    def pack(self, bits: npt.NDArray[Any]) -> int:
        """Return the plane of bits of shape (height, width) or (copies, height, width)."""
        packed = np.packbits(np.asarray(bits, np.uint8).ravel(), bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    def unpack(self, plane: int) -> npt.NDArray[np.uint8]:
        """Return a plane's bits, shape (height, width), or (copies, height, width) for several."""
        count = self.cells * self.copies
        data = np.frombuffer(plane.to_bytes((count + 7) // 8, "little"), np.uint8)
        shape = (self.copies, self.height, self.width)
        bits = np.unpackbits(data, count=count, bitorder="little").reshape(shape)
        return bits if self.copies > 1 else bits[0]


class Network:
    """A circuit as distinct ANDs and XORs, to evaluate on planes.

    A literal is twice a value's position, plus one if inverted. Position 0 is constant 0. Then come
    the inputs that are read, then the gates.
    """

    def __init__(self, circuit: Circuit) -> None:
        xag, outputs = from_circuit(circuit)
        nodes = xag.cone(outputs)
        place = {0: 0, **{node: 1 + number for number, node in enumerate(nodes)}}

        def renamed(literal: int) -> int:
            return 2 * place[literal >> 1] | literal & 1

        self.channels = circuit.channels
        self.inputs = tuple(
            divmod(node - 1, circuit.channels) for node in nodes if node < xag.first_gate
        )
        """Neighbour and channel of each input that is read."""
        gates = [node - xag.first_gate for node in nodes if node >= xag.first_gate]
        self.gates = tuple(
            (xag.kind[gate] is Kind.XOR, renamed(xag.x[gate]), renamed(xag.y[gate]))
            for gate in gates
        )
        self.outputs = tuple(renamed(literal) for literal in outputs)

    def step(self, board: Board, state: Planes) -> Planes:
        """Return the state after every cell fires once."""
        full = board.full
        values = [0, full]
        for neighbor, channel in self.inputs:
            seen = board.seen(state[channel], neighbor)
            values += (seen, full ^ seen)
        for is_xor, x, y in self.gates:
            value = values[x] ^ values[y] if is_xor else values[x] & values[y]
            values += (value, full ^ value)
        return tuple(values[literal] for literal in self.outputs)


def pack(board: Board, bits: npt.NDArray[Any]) -> Planes:
    """Return the planes of a state (channels, height, width)."""
    return tuple(board.pack(channel) for channel in bits)


def unpack(board: Board, planes: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return planes as bits, shape (channels, height, width)."""
    return np.stack([board.unpack(plane) for plane in planes])
