"""Circuits on sets of values: where every start leads to, in one run.

A bit is {0}, {1} or {0, 1}, and a gate maps sets to sets: to all values that it takes on members
of them. From a grid where nothing is known, the state on sets after k steps contains every
state that any start leads to in k steps. docs/certificates.md has the theorem and its proof.

Source: ternary simulation (Eichelberger 1965; Brzozowski and Seger 1995), an instance of abstract
interpretation (Cousot and Cousot 1977).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.proof.convergence.planes import Board, Network, Planes, unpack

UNKNOWN = 2
"""Stands for {0, 1} in arrays of sets; 0 and 1 stand for {0} and {1}."""


class Sets(NamedTuple):
    """A set in every channel of every cell, as two bit planes per channel.

    The least and the greatest member: 0 and 0 is {0}, 1 and 1 is {1}, 0 and 1 is {0, 1}. Beyond a
    zero boundary lies {0}, which both planes have there anyway.
    """

    least: Planes
    most: Planes

    @property
    def unknown(self) -> Planes:
        """Where the set has both values."""
        return tuple(low ^ high for low, high in zip(self.least, self.most, strict=True))


def everything(channels: int, board: Board) -> Sets:
    """Return the state where nothing is known."""
    return Sets((0,) * channels, (board.full,) * channels)


def step(network: Network, board: Board, state: Sets) -> Sets:
    """Return the sets after a step in which every cell fires.

    Each gate is exact: it keeps a value if and only if members of its inputs' sets lead to it. An
    inverter swaps the least and the greatest member, inverted.
    """
    full, views = board.full, board.views
    least, most = [0, full], [0, full]
    for neighbor, channel in network.inputs:
        low, high, below, above = 0, 0, state.least[channel], state.most[channel]
        # As `board.seen`, which a search would call a million times.
        for shift, mask in views[neighbor]:
            if shift > 0:
                low |= below << shift & mask
                high |= above << shift & mask
            else:
                low |= below >> -shift & mask
                high |= above >> -shift & mask
        least += (low, full ^ high)
        most += (high, full ^ low)
    for is_xor, x, y in network.gates:
        if is_xor:  # x ∧ ¬y or ¬x ∧ y; literals that differ in the last bit are inverse
            low = least[x] & least[y ^ 1] | least[x ^ 1] & least[y]
            high = most[x] & most[y ^ 1] | most[x ^ 1] & most[y]
        else:
            low, high = least[x] & least[y], most[x] & most[y]
        least += (low, full ^ high)
        most += (high, full ^ low)
    return Sets(
        tuple(least[literal] for literal in network.outputs),
        tuple(most[literal] for literal in network.outputs),
    )


def descend(network: Network, board: Board) -> Iterator[Sets]:
    """Yield the sets before the first step and after each, until they stay as they are.

    They begin with everything, and only shrink.
    """
    state = everything(network.channels, board)
    while True:
        yield state
        after = step(network, board, state)
        if after == state:
            return
        state = after


def as_array(board: Board, state: Sets) -> npt.NDArray[np.uint8]:
    """Return sets as 0, 1 and UNKNOWN, shape (channels, height, width)."""
    least, most = unpack(board, state.least), unpack(board, state.most)
    return np.where(least == most, least, np.uint8(UNKNOWN))
