"""Cells that know their place: the last channels count rows and columns from the edges.

A cell of a picture must know where it is. On a zero boundary that needs no learning: a cell's row
is its upper neighbour's plus one, its column its left neighbour's plus one, and beyond the edge
there is 0. These counters are wired before training and never change. All other gates read only
places, so from any state the grid is right after max(height, width) + 1 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.gates import Op
from difflogic.circuit.grid import CENTER, NEIGHBORS
from difflogic.circuit.layer import Layer
from difflogic.circuit.netlist import Architecture
from difflogic.circuit.wiring import Wiring
from difflogic.pictures.tough import FLAGS, voting_layers
from difflogic.system.array_types import Bits, Int64s

COUNTED_FROM = tuple(NEIGHBORS.index(name) for name in ("N", "W"))
"""The neighbours to whose row and column a cell adds 1."""

MOST_PERIOD = 32
"""Most rows and columns of a tile, whose places a ring tells."""


def ring(period: int) -> Bits:
    """Return the bits (bits, places) of each place of a period, one gate away from those before.

    A shift register: a new bit is the last one inverted, or, in odd periods, the NOR of the last
    two. Beyond the edge, where all bits are 0, lies the place before the first.
    """
    count = (period + 1) // 2 * (period > 1)
    state = (0,) * count
    states = []
    for _ in range(period):
        new = 1 - (max(state[-2:], default=1) if period % 2 else state[-1])
        state = (new, *state[:-1])
        states.append(state[:count])
    return np.array(states, np.uint8).reshape(period, -1).T


def place_bits(height: int, width: int) -> tuple[int, int]:
    """Return the number of bits that tell all rows apart, and all columns."""
    return (height - 1).bit_length(), (width - 1).bit_length()


@dataclass(frozen=True)
class Places:
    """The fixed gates that count places, and the channels that they keep, the last ones."""

    bits: tuple[int, int]
    """Bits of row and column."""
    tough: bool = False
    """Whether places are told by several neighbours, with flags before them."""
    periods: tuple[int, ...] = ()
    """Rows and columns of a tile: places are told apart within it, and only a cell's own are read.

    If both are powers of two, numbers of few bits start again by themselves; else rings do.
    """

    @classmethod
    def over(cls, height: int, width: int, tough: bool = False) -> Places:
        """Return how places on a whole grid are counted."""
        return cls(place_bits(height, width), tough)

    @classmethod
    def within(cls, periods: tuple[int, ...]) -> Places:
        """Return how places within a tile are counted."""
        rows, columns = periods
        if not any(period & period - 1 for period in periods):
            return cls(place_bits(rows, columns), periods=periods)
        return cls((len(ring(rows)), len(ring(columns))), periods=periods)

    @property
    def _has_rings(self) -> bool:
        return any(period & period - 1 for period in self.periods)

    @property
    def least_layers(self) -> int:
        """Layers that the gates need."""
        return 1 if self._has_rings else max(self.bits)

    @property
    def known(self) -> int:
        """Channels that learned gates read."""
        return sum(self.bits)

    @property
    def channels(self) -> int:
        """All channels that are not learned: flags, then those that are known."""
        return self.known + FLAGS * self.tough

    def settled(self, channels: int, height: int, width: int) -> Bits:
        """Return their final state, all other channels 0, shape (channels, height, width).

        The first row and column are 1; after all ones, counting goes on with 0. The last channels
        are the row's bits, then the column's, lowest first.
        """
        state = np.zeros((channels, height, width), np.uint8)
        first = channels - sum(self.bits)
        state[first - FLAGS * self.tough : first] = 1
        if self._has_rings:
            (rows, columns) = map(ring, self.periods)
            (y, x) = np.indices((height, width))
            state[first:] = [*rows[:, y % rows.shape[1]], *columns[:, x % columns.shape[1]]]
            return state
        row, column = np.ogrid[1 : height + 1, 1 : width + 1]
        for place, count in zip((row, column), self.bits, strict=True):
            for bit in range(count):
                state[first + bit] = place >> bit & 1
            first += count
        return state

    def layers(self, depth: int) -> Sequence[Layer]:
        """Return the gates, the last ones of a circuit's layers.

        Inputs are these channels of the nine cells. Raises ConfigError if tough places need more
        layers. b + 1 has the bits ¬b0, b1 ⊕ b0, b2 ⊕ b1·b0 and so on: each layer computes one more
        bit.
        """
        if self.tough:
            return voting_layers(*self.bits, depth)
        if self._has_rings:
            return self._ring_layers(depth)
        bits = self.bits
        cells = np.arange(len(NEIGHBORS) * self.known).reshape(-1, self.known)
        first = cells[np.repeat(COUNTED_FROM, bits), np.arange(self.known)]
        reads = [*first.tolist(), *([0] * len(bits))]
        found = []
        for number in range(depth):
            op = np.full(len(reads), Op.A, np.uint8)
            a = np.array(reads)
            b = np.array(reads)
            for counter, count in enumerate(bits):
                lowest = sum(bits[:counter])
                if count and not number:
                    op[lowest] = Op.NOT_A
                if number + 1 < count:
                    bit = lowest + number + 1
                    product = self.known + counter
                    op[bit] = Op.XOR
                    op[product] = Op.AND
                    b[bit] = a[product] = reads[product] if number else reads[lowest]
                    b[product] = reads[bit]
            kept = self.known if number == depth - 1 else len(reads)
            found.append(Layer(op[:kept], a[:kept], b[:kept]))
            reads = [*range(len(reads))]
        return found

    def _ring_layers(self, depth: int) -> Sequence[Layer]:
        """Return the gates of rings: each bit is the one before it of the neighbour before."""
        cells = np.arange(len(NEIGHBORS) * self.known).reshape(-1, self.known)
        op = list[int]()
        a = list[int]()
        b = list[int]()
        for neighbor, period, count in zip(COUNTED_FROM, self.periods, self.bits, strict=True):
            bits = cells[neighbor, len(op) : len(op) + count].tolist()
            if bits:
                op += [Op.NOR if period % 2 else Op.NOT_A, *[Op.A] * (len(bits) - 1)]
                a += [bits[-1], *bits[:-1]]
                b += [bits[-2 if period % 2 else -1], *bits[:-1]]
        own = np.arange(self.known)
        passed = Layer(np.full(self.known, Op.A, np.uint8), own, own)
        return [Layer(np.array(op, np.uint8), np.array(a), np.array(b)), *[passed] * (depth - 1)]

    def learned(self, sizes: Architecture) -> tuple[int, tuple[int, ...]]:
        """Return the inputs of the learned gates, and the number of learned gates in each layer.

        They read places only.
        """
        layers = self.layers(len(sizes.update))
        left = (gates - len(each.op) for gates, each in zip(sizes.update, layers, strict=True))
        return len(self.learned_inputs(sizes.channels, sizes.update_inputs)), tuple(left)

    def learned_inputs(self, channels: int, inputs: int) -> Int64s:
        """Return the inputs of an update circuit that learned gates read, ascending.

        Of tough places, and of a tile's, only the cell's own are read. `inputs` counts those of the
        circuit: the centre's channels, then what is perceived of each.
        """
        ways = inputs // channels - 1
        own = np.arange(channels - self.known, channels)
        around = np.arange(channels + own[0] * ways, inputs)
        return own if self.tough or self.periods else np.concatenate([own, around])

    def beside(
        self, layers: Sequence[Wiring], channels: int, looks: Sequence[int]
    ) -> tuple[Wiring, ...]:
        """Return the wiring of an update circuit with these gates after those of `layers`.

        `layers` are wired for the sizes of `learned`. `looks` are the neighbours that perception
        passes on. The circuit's inputs are the centre's channels, then what is perceived, by
        channel.
        """
        ways = len(looks)
        width = channels * (1 + len(looks))
        inputs = self.learned_inputs(channels, width)
        own = np.arange(channels - self.channels, channels)
        cells = (
            own if cell == CENTER else channels + own * ways + looks.index(cell)
            for cell in range(len(NEIGHBORS))
        )
        reads = np.concatenate([*cells])
        wired = []
        for layer, counted in zip(layers, self.layers(len(layers)), strict=True):
            wires = (
                np.concatenate([inputs[gates], reads[counters]]).astype(np.int32)
                for gates, counters in ((layer.a, counted.a), (layer.b, counted.b))
            )
            wired.append(Wiring(width, *wires))
            width = layer.gates + len(counted.op)
            inputs = np.arange(layer.gates)
            reads = np.arange(layer.gates, width)
        return tuple(wired)
