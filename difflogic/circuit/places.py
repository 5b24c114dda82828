"""Cells that know their place: the last channels count rows and columns from the edges.

What a cell of a picture has to know is where it is. On a zero boundary that needs no learning: a
cell's row is its upper neighbour's plus one, its column the left one's plus one, and what is beyond
the edge is 0. These counters are wired before training and stay as they are. All other gates read
nothing but places, so whatever state a grid is in, it is right as many steps later as it has rows
or columns, and one more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.circuit.wiring import Wiring

SURE = 1000.0
"""The logit of a counter's op: its softmax has no gradient, so that training never changes it."""

AHEAD = tuple(NEIGHBORS.index(name) for name in ("N", "W"))
"""The neighbours whose row and column a cell adds 1 to."""

Bits = npt.NDArray[np.uint8]


def place_bits(height: int, width: int) -> tuple[int, int]:
    """Return how many bits tell all rows apart, and all columns."""
    return (height - 1).bit_length(), (width - 1).bit_length()


def places(channels: int, height: int, width: int) -> Bits:
    """Return the state that counters come to, all else 0, shape (channels, height, width).

    The first row and column are 1, and counting goes on with 0 after ones alone. The last channels
    have the row's bits, then the column's, the lowest first.
    """
    rows, columns = place_bits(height, width)
    state = np.zeros((channels, height, width), np.uint8)
    first = channels - rows - columns
    for bit in range(rows):
        state[first + bit] = (np.arange(1, height + 1) >> bit & 1)[:, None]
    for bit in range(columns):
        state[first + rows + bit] = np.arange(1, width + 1) >> bit & 1
    return state


def learned(
    channels: int, inputs: int, sizes: Sequence[int], bits: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """Return how many inputs the gates that are learned have, and how many there are by layer.

    They read what is known of places, and the last gates of each layer count.
    """
    *hidden, _ = sizes
    kept = _slots(bits)
    return inputs // channels * sum(bits), (*(size - kept for size in hidden), channels - sum(bits))


def _slots(bits: Sequence[int]) -> int:
    """Return how many gates of a layer count: one per bit, and per number a product of bits."""
    return sum(bits) + len(bits)


def counting(
    layers: Sequence[Wiring], channels: int, looks: Sequence[int], bits: Sequence[int]
) -> tuple[Wiring, ...]:
    """Return the wiring of an update circuit with counters behind the gates of `layers`.

    `layers` are wired for the sizes of `learned`. `looks` are the neighbours that perception hands
    on, `bits` those of row and column. The circuit's inputs are the centre's channels, then what is
    perceived, by channel. b + 1 has the bits ¬b0, b1 ⊕ b0, b2 ⊕ b1·b0 and so on, one further bit
    in each layer.
    """
    total, ways = sum(bits), len(looks)
    own = np.arange(channels - total, channels)
    seen = np.repeat([looks.index(ahead) for ahead in AHEAD], bits)
    reads = np.concatenate([channels + own * ways + seen, np.zeros(len(bits), np.int64)])
    inputs = np.concatenate([own, np.arange(channels + own[0] * ways, channels * (1 + ways))])
    width, wired = channels * (1 + ways), []
    for depth, layer in enumerate(layers):
        a, b = reads.copy(), reads.copy()
        for number, first in enumerate(np.cumsum([0, *bits[:-1]])):
            if depth + 1 < bits[number]:
                bit, product = first + depth + 1, total + number
                b[bit] = a[product] = reads[product] if depth else reads[first]
                b[product] = reads[bit]
        kept = total if depth == len(layers) - 1 else total + len(bits)
        wires = (
            np.concatenate([inputs[learned], counted[:kept]]).astype(np.int32)
            for learned, counted in ((layer.a, a), (layer.b, b))
        )
        wired.append(Wiring(width, *wires))
        inputs, width = np.arange(layer.gates), layer.gates + kept
        reads = layer.gates + np.arange(total + len(bits))
    return tuple(wired)


def counter_ops(sizes: Sequence[int], bits: Sequence[int]) -> list[npt.NDArray[np.uint8]]:
    """Return the ops of the last gates of each layer of these `sizes`, which count."""
    total, found = sum(bits), []
    for depth in range(len(sizes)):
        ops = np.full(_slots(bits), Op.A, np.uint8)
        for number, first in enumerate(np.cumsum([0, *bits[:-1]])):
            if not depth and bits[number]:
                ops[first] = Op.NOT_A
            if depth + 1 < bits[number]:
                ops[first + depth + 1], ops[total + number] = Op.XOR, Op.AND
        found.append(ops[:total] if depth == len(sizes) - 1 else ops)
    return found
