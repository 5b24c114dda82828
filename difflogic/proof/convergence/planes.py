"""Grids of bits as Python integers: cell (y, x) of a plane is bit y · width + x.

One operation on integers computes one gate in every cell. This takes some ten nanoseconds for a few
hundred cells, less than the overhead of a NumPy call, and under a microsecond for 128×128 cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary, Walls, neighbors, shifts
from difflogic.circuit.xag import XagGate, from_circuit
from difflogic.proof.kernels.sets import WORD_CELLS, NetworkWires, Views
from difflogic.system.array_types import Array, Bits, Int64s, Words
from difflogic.system.work import may_cancel

Planes = tuple[int, ...]
"""One plane per channel."""


@dataclass(frozen=True)
class Board:
    """A grid, or several independent `copies` of it."""

    height: int
    width: int
    boundary: Boundary | Walls
    copies: int = 1

    @cached_property
    def cells(self) -> int:
        """Cells of one copy."""
        return self.height * self.width

    @cached_property
    def around(self) -> Int64s:
        """The number of each cell's neighbours in its copy, (9, cells); OUTSIDE beyond an edge."""
        return neighbors(self.height, self.width, self.boundary)

    @cached_property
    def full(self) -> int:
        """The plane of ones."""
        return (1 << self.cells * self.copies) - 1

    def repeated(self, plane: int) -> int:
        """Repeat the plane of one grid in every copy."""
        # By doubling; adding copies one by one would take quadratic time.
        count = 1
        while count < self.copies:
            more = min(count, self.copies - count)
            plane |= (plane & (1 << more * self.cells) - 1) << count * self.cells
            count += more
        return plane

    def seen(self, plane: int, neighbor: int) -> int:
        """Return each cell's neighbour: 0 to 8 in row-major order, 4 is the cell itself."""
        found = 0
        for shift, mask in self.views[neighbor]:
            found |= (plane << shift if shift > 0 else plane >> -shift) & mask
        return found

    @cached_property
    def views(self) -> list[list[tuple[int, int]]]:
        """For each neighbour: upward shifts of the plane, each with a mask of its cells.

        Cells at an edge see the opposite edge by other shifts than the rest, or nothing.
        """
        masks = _views(self.height, self.width, self.boundary)
        return [[(shift, self.repeated(mask)) for shift, mask in view] for view in masks]

    def pack(self, bits: Array) -> int:
        """Return the plane of bits of shape (height, width) or (copies, height, width)."""
        return int.from_bytes(self.words(np.asarray(bits)[None]).tobytes(), "little")

    def words(self, bits: Array) -> Words:
        """Return planes of bits, shape (planes, height, width), as words of 64 cells.

        With several copies the shape is (planes, copies, height, width). Bits beyond them are 0.
        """
        flat = np.asarray(bits, np.uint8).reshape(len(bits), -1)
        padded = np.zeros((len(flat), -(-flat.shape[1] // WORD_CELLS) * WORD_CELLS), np.uint8)
        padded[:, : flat.shape[1]] = flat
        return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)

    def bits(self, words: Words) -> Bits:
        """Return what `words` was made of."""
        count = self.cells * self.copies
        found = np.unpackbits(words.view(np.uint8), axis=1, count=count, bitorder="little")
        copies = (self.copies,) if self.copies > 1 else ()
        return found.reshape(len(words), *copies, self.height, self.width)

    @cached_property
    def shown(self) -> Views:
        """What the compiled step on sets needs to know of what cells see."""
        count = self.cells * self.copies
        size = -(-count // WORD_CELLS) * WORD_CELLS // 8
        views = [view for each in self.views for view in each]
        masks = b"".join(plane.to_bytes(size, "little") for _, plane in (*views, (0, self.full)))
        words = np.frombuffer(masks, np.uint64).reshape(-1, size // 8)
        first = np.cumsum([0, *map(len, self.views)])
        return Views(first, np.array([shift for shift, _ in views]), words[:-1], words[-1])

    def unpack(self, plane: int) -> Bits:
        """Return a plane's bits, shape (height, width), or (copies, height, width) for several."""
        size = -(-self.cells * self.copies // WORD_CELLS) * WORD_CELLS // 8
        found: Bits = self.bits(np.frombuffer(plane.to_bytes(size, "little"), np.uint64)[None])[0]
        return found


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
            (xag.kind[gate] is XagGate.XOR, renamed(xag.x[gate]), renamed(xag.y[gate]))
            for gate in gates
        )
        self.outputs = tuple(renamed(literal) for literal in outputs)

    @cached_property
    def wires(self) -> NetworkWires:
        """The same for the compiled step on sets."""
        inputs, gates, outputs = (
            np.array(part, np.int64) for part in (self.inputs, self.gates, self.outputs)
        )
        return NetworkWires(inputs.reshape(-1, 2), gates.reshape(-1, 3), outputs)

    def step(self, board: Board, state: Planes) -> Planes:
        """Return the state after every cell fires once."""
        may_cancel()
        full = board.full
        values = [0, full]
        for neighbor, channel in self.inputs:
            seen = board.seen(state[channel], neighbor)
            values += (seen, full ^ seen)
        for is_xor, x, y in self.gates:
            value = values[x] ^ values[y] if is_xor else values[x] & values[y]
            values += (value, full ^ value)
        return tuple(values[literal] for literal in self.outputs)


def pack(board: Board, bits: Array) -> Planes:
    """Return the planes of a state (channels, height, width)."""
    return as_planes(board.words(bits))


def as_planes(words: Words) -> Planes:
    """Return planes of words (planes, words) as integers."""
    return tuple(int.from_bytes(row.tobytes(), "little") for row in words)


def unpack(board: Board, planes: Sequence[int]) -> Bits:
    """Return planes as bits, shape (channels, height, width)."""
    return np.stack([board.unpack(plane) for plane in planes])


@lru_cache
def _views(height: int, width: int, boundary: Boundary | Walls) -> list[list[tuple[int, int]]]:
    board = Board(height, width, boundary)
    views = shifts(height, width, boundary)
    return [[(-far, board.pack(cells)) for far, cells in view] for view in views]
