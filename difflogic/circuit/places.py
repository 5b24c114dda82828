"""Cells that know their place: the last channels count rows and columns from the edges.

A cell of a picture must know where it is. On a zero boundary that needs no learning: a cell's row
is its upper neighbour's plus one, its column its left neighbour's plus one, and beyond the edge
there is 0. These counters are wired before training and never change. All other gates read only
places, so from any state the grid is right after max(height, width) + 1 steps.

A *switch* is one more channel, which is 1 everywhere as soon as it is 1 in any cell. With it a
start chooses which of two pictures grows. Gates read it like a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import Op
from difflogic.circuit.grid import CENTER, NEIGHBORS
from difflogic.circuit.staging import Stage
from difflogic.circuit.tough import FLAGS, tough_stages
from difflogic.circuit.wiring import Wiring

SURE = 1000.0
"""The logit of a counter's op. Its softmax has no gradient, so training never changes it."""

AROUND = tuple(NEIGHBORS.index(name) for name in ("N", "W", "E", "S"))
"""The neighbours from which a cell takes a switch over."""

AHEAD = tuple(NEIGHBORS.index(name) for name in ("N", "W"))
"""The neighbours to whose row and column a cell adds 1."""

Bits = npt.NDArray[np.uint8]


def place_bits(height: int, width: int) -> tuple[int, int]:
    """Return the number of bits that tell all rows apart, and all columns."""
    return (height - 1).bit_length(), (width - 1).bit_length()


def places(channels: int, height: int, width: int, tough: bool = False) -> Bits:
    """Return the counters' final state, all other channels 0, shape (channels, height, width).

    The first row and column are 1; after all ones, counting goes on with 0. The last channels are
    the row's bits, then the column's, lowest first. Before those of tough places are their flags.
    """
    rows, columns = place_bits(height, width)
    state = np.zeros((channels, height, width), np.uint8)
    first = channels - rows - columns
    state[first - FLAGS * tough : first] = 1
    for bit in range(rows):
        state[first + bit] = (np.arange(1, height + 1) >> bit & 1)[:, None]
    for bit in range(columns):
        state[first + rows + bit] = np.arange(1, width + 1) >> bit & 1
    return state


def steps_to_show(height: int, width: int, tough: bool) -> int:
    """Return the steps from zeros until every cell knows its place and shows a picture."""
    longer, shorter = max(height, width), min(height, width)
    return longer + 1 + (shorter + 1) // 2 * tough


class Counters(NamedTuple):
    """What the gates that count places depend on."""

    bits: tuple[int, ...]
    """Bits of row and column."""
    switch: bool = False
    tough: bool = False

    @property
    def known(self) -> int:
        """Channels that learned gates read."""
        return sum(self.bits) + self.switch

    @property
    def channels(self) -> int:
        """All channels that are not learned: flags, then those that are known."""
        return self.known + FLAGS * self.tough

    def stages(self, layers: int) -> Sequence[Stage]:
        """Return the gates in layers, the last gates of a circuit's layers.

        Inputs are these channels of the nine cells. Raises ConfigError if tough places need more
        layers. b + 1 has the bits ¬b0, b1 ⊕ b0, b2 ⊕ b1·b0 and so on: each layer computes one more
        bit, and ORs the switch with that of one more neighbour.
        """
        if self.tough:
            return tough_stages(*self.bits, layers)
        bits, switch = self.bits, self.switch
        cells = np.arange(len(NEIGHBORS) * self.known).reshape(-1, self.known)
        first = cells[np.repeat(AHEAD, bits), np.arange(switch, self.known)]
        reads = [*first.tolist(), *([0] * len(bits))]
        if switch:
            reads = [int(cells[CENTER, 0]), *reads, *cells[list(AROUND), 0].tolist()]
        found = []
        for depth in range(layers):
            a, b = np.array(reads), np.array(reads)
            for bit, product, lowest in _spans(bits, switch, depth):
                b[bit] = a[product] = reads[product] if depth else reads[lowest]
                b[product] = reads[bit]
            if switch and depth < len(AROUND):
                b[0] = reads[depth - len(AROUND)]
            kept = self.known if depth == layers - 1 else len(reads)
            found.append(Stage(*(each[:kept] for each in (_ops(bits, switch, depth), a, b))))
            reads = [*range(len(reads))]
        return found


def learned(
    channels: int, inputs: int, sizes: Sequence[int], counters: Counters
) -> tuple[int, tuple[int, ...]]:
    """Return the inputs of the learned gates, and the number of learned gates in each layer.

    They read places and the switch only. The last gates of each layer are counters.
    """
    stages = counters.stages(len(sizes))
    left = (size - len(stage.op) for size, stage in zip(sizes, stages, strict=True))
    ways = 1 if counters.tough else inputs // channels
    return ways * counters.known, tuple(left)


def learned_inputs(channels: int, inputs: int, counters: Counters) -> npt.NDArray[np.int64]:
    """Return the inputs of an update circuit that learned gates read, ascending.

    The last channels are the places and the switch; of tough places, only the cell's own are read.
    `inputs` counts those of the circuit: the centre's channels, then what is perceived of each.
    """
    ways = inputs // channels - 1
    own = np.arange(channels - counters.known, channels)
    around = np.arange(channels + own[0] * ways, inputs)
    return own if counters.tough else np.concatenate([own, around])


def counting(
    layers: Sequence[Wiring], channels: int, looks: Sequence[int], counters: Counters
) -> tuple[Wiring, ...]:
    """Return the wiring of an update circuit with counters after the gates of `layers`.

    `layers` are wired for the sizes of `learned`. `looks` are the neighbours that perception passes
    on. The circuit's inputs are the centre's channels, then what is perceived, by channel.
    """
    ways, width = len(looks), channels * (1 + len(looks))
    inputs = learned_inputs(channels, width, counters)
    own = np.arange(channels - counters.channels, channels)
    cells = (
        own if cell == CENTER else channels + own * ways + looks.index(cell)
        for cell in range(len(NEIGHBORS))
    )
    reads, wired = np.concatenate([*cells]), []
    for layer, stage in zip(layers, counters.stages(len(layers)), strict=True):
        wires = (
            np.concatenate([inputs[gates], reads[counted]]).astype(np.int32)
            for gates, counted in ((layer.a, stage.a), (layer.b, stage.b))
        )
        wired.append(Wiring(width, *wires))
        width = layer.gates + len(stage.op)
        inputs, reads = np.arange(layer.gates), np.arange(layer.gates, width)
    return tuple(wired)


def _ops(bits: Sequence[int], switch: bool, depth: int) -> npt.NDArray[np.uint8]:
    """Return the ops of a layer's counters: switch, bits, products, neighbours' switches."""
    ops = np.full(sum(bits) + len(bits) + switch * (1 + len(AROUND)), Op.A, np.uint8)
    if not depth:
        ops[[switch + sum(bits[:number]) for number, count in enumerate(bits) if count]] = Op.NOT_A
    for bit, product, _ in _spans(bits, switch, depth):
        ops[bit], ops[product] = Op.XOR, Op.AND
    if switch and depth < len(AROUND):
        ops[0] = Op.OR
    return ops


def _spans(bits: Sequence[int], switch: bool, depth: int) -> Iterator[tuple[int, int, int]]:
    """Yield the places of a layer's new bit, its product and the first bit, for each counter."""
    for number, count in enumerate(bits):
        if depth + 1 < count:
            first = switch + sum(bits[:number])
            yield first + depth + 1, switch + sum(bits) + number, first
