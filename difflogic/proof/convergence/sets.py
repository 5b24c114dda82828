"""Runs circuits on sets of values: one run covers every start.

A bit is {0}, {1} or {0, 1}. A gate maps sets to the set of all its values on their members. From a
grid where nothing is known, the sets after k steps contain every state that any start can reach in
k steps. docs/certificates.md has the theorem and its proof.

Source: ternary simulation (Eichelberger 1965; Brzozowski and Seger 1995), an instance of abstract
interpretation (Cousot and Cousot 1977).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.proof.convergence.planes import Board, Network, Planes, unpack
from difflogic.system.callbacks import may_cancel

UNKNOWN = 2
"""Stands for {0, 1} in arrays of sets; 0 and 1 stand for {0} and {1}."""


class Sets(NamedTuple):
    """A set for every channel of every cell, as two planes per channel.

    The planes hold the least and the greatest member. Beyond a zero boundary both are 0, so the set
    there is {0}.
    """

    least: Planes
    most: Planes

    @property
    def unknown(self) -> Planes:
        """Planes with a 1 where the set has both values."""
        return tuple(low ^ high for low, high in zip(self.least, self.most, strict=True))


def everything(channels: int, board: Board) -> Sets:
    """Return the state where nothing is known."""
    return Sets((0,) * channels, (board.full,) * channels)


def step(network: Network, board: Board, state: Sets) -> Sets:
    """Return the sets after every cell fires once.

    Each gate is exact: it keeps a value if and only if members of its inputs' sets lead to it.
    Inversion swaps the least and the greatest member and inverts both.
    """
    may_cancel()
    full, views = board.full, board.views
    least, most = [0, full], [0, full]
    for neighbor, channel in network.inputs:
        low, high, below, above = 0, 0, state.least[channel], state.most[channel]
        # `board.seen` inlined: a search runs this a million times.
        for shift, mask in views[neighbor]:
            if shift > 0:
                low |= below << shift & mask
                high |= above << shift & mask
            else:
                low |= below >> -shift & mask
                high |= above >> -shift & mask
        least += (low, full ^ high)
        most += (high, full ^ low)
    return through(network, full, least, most)


def through(network: Network, full: int, least: list[int], most: list[int]) -> Sets:
    """Return the outputs' sets from those of literals up to the inputs; all gates' are added."""
    for is_xor, x, y in network.gates:
        if is_xor:  # x ∧ ¬y or ¬x ∧ y; flipping a literal's last bit inverts it
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
    """Yield the sets from everything on, after each step, until they stop shrinking."""
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
