"""Grids of bits as Python's integers: cell (y, x) of a plane is bit y · width + x.

One operation on an integer is one gate in every cell. A grid of a few hundred cells takes some
ten nanoseconds for it, less than any array costs to be looked at, and one of 128×128 cells still
less than a microsecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import OFFSETS, Boundary
from difflogic.circuit.xag import Kind, from_circuit

Planes = tuple[int, ...]
"""One plane per channel."""


@dataclass(frozen=True)
class Board:
    """A grid, or several `copies` of it side by side that do not see each other."""

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
        """Return the plane of one grid, in every copy."""
        return plane * self._each

    def seen(self, plane: int, neighbor: int) -> int:
        """Return what each cell sees at a neighbour's place (row-major, 4 is the centre)."""
        found = 0
        for shift, mask in self.views[neighbor]:
            found |= (plane << shift if shift > 0 else plane >> -shift) & mask
        return found

    @cached_property
    def views(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of each neighbour, how far planes are shifted up, and which cells see it so.

        Beyond an edge they see nothing, or the opposite edge: all ways but one are around edges.
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
        """Return how far up a plane is shifted, in rows or columns, for which cells."""
        if not offset:
            return ((0, self.full),)
        edge = edges[offset < 0]
        inside = (-offset, self.full & ~edge)
        if self.boundary != "periodic":
            return (inside,)
        return inside, (offset * (size - 1), edge)

    @cached_property
    def _each(self) -> int:
        """A one in the first cell of every copy."""
        # By doubling: one by one would take the square of the number of copies.
        ones, count = 1, 1
        while count < self.copies:
            more = min(count, self.copies - count)
            ones |= (ones & (1 << more * self.cells) - 1) << count * self.cells
            count += more
        return ones

    @cached_property
    def _rows(self) -> tuple[int, int]:
        """The last rows, and the first rows."""
        row = (1 << self.width) - 1
        return self.repeated(row << (self.height - 1) * self.width), self.repeated(row)

    @cached_property
    def _columns(self) -> tuple[int, int]:
        """The last columns, and the first columns."""
        first = sum(1 << y * self.width for y in range(self.height))
        return self.repeated(first << self.width - 1), self.repeated(first)

    def pack(self, bits: npt.NDArray) -> int:
        """Return the plane of bits (height, width), or (copies, height, width)."""
        packed = np.packbits(np.asarray(bits, np.uint8).ravel(), bitorder="little")
        return int.from_bytes(packed.tobytes(), "little")

    def unpack(self, plane: int) -> npt.NDArray[np.uint8]:
        """Return a plane's bits, shape (height, width), or (copies, height, width) if several."""
        count = self.cells * self.copies
        data = np.frombuffer(plane.to_bytes((count + 7) // 8, "little"), np.uint8)
        shape = (self.copies, self.height, self.width)
        bits = np.unpackbits(data, count=count, bitorder="little").reshape(shape)
        return bits if self.copies > 1 else bits[0]


class Network:
    """A circuit's gates in the form that planes run through: ANDs and XORs, none twice.

    A value is named by a literal: twice a place, plus one if it is inverted. Place 0 is
    constant 0, then come the inputs that some gate or output reads, then the gates.
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
        """The neighbour and the channel of each input that is read."""
        gates = [node - xag.first_gate for node in nodes if node >= xag.first_gate]
        self.gates = tuple(
            (xag.kind[gate] is Kind.XOR, renamed(xag.x[gate]), renamed(xag.y[gate]))
            for gate in gates
        )
        self.outputs = tuple(renamed(literal) for literal in outputs)

    def step(self, board: Board, state: Planes) -> Planes:
        """Return the state after a step in which every cell fires."""
        full = board.full
        values = [0, full]
        for neighbor, channel in self.inputs:
            seen = board.seen(state[channel], neighbor)
            values += (seen, full ^ seen)
        for is_xor, x, y in self.gates:
            value = values[x] ^ values[y] if is_xor else values[x] & values[y]
            values += (value, full ^ value)
        return tuple(values[literal] for literal in self.outputs)


def pack(board: Board, bits: npt.NDArray) -> Planes:
    """Return the planes of a state (channels, height, width)."""
    return tuple(board.pack(channel) for channel in bits)


def unpack(board: Board, planes: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return planes as bits, shape (channels, height, width)."""
    return np.stack([board.unpack(plane) for plane in planes])
