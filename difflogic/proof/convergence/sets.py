"""Runs circuits on sets of values: one run covers every start.

A bit is {0}, {1} or {0, 1}. A gate maps sets to the set of all its values on their members. From a
grid where nothing is known, the sets after k steps contain every state that any start can reach in
k steps. docs/certificates.md has the theorem, and the notebook its proof.

Source: ternary simulation (Eichelberger 1965; Brzozowski and Seger 1995), an instance of abstract
interpretation (Cousot and Cousot 1977).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from difflogic.circuit.hard_netlist import unchanging
from difflogic.proof.convergence.planes import Board, Network, Planes
from difflogic.proof.kernels import sets as kernels
from difflogic.system.array_types import Bits, Words
from difflogic.system.work import may_cancel

UNKNOWN = 2
"""Stands for {0, 1} in arrays of sets; 0 and 1 stand for {0} and {1}."""


Sets = Words
"""A set for every channel of every cell, shape (2, channels, words); see `Board.words`.

The two planes of a channel hold the least and the greatest member. Beyond a zero boundary both are
0, so the set there is {0}.
"""


def between(board: Board, least: Bits, most: Bits) -> Sets:
    """Return the sets with these members, each of shape (channels, [copies,] height, width)."""
    return np.stack([board.words(least), board.words(most)])


def everything(channels: int, board: Board) -> Sets:
    """Return the state where nothing is known."""
    full = np.tile(board.shown.full, (channels, 1))
    return np.stack([np.zeros_like(full), full])


def step(network: Network, board: Board, state: Sets) -> Sets:
    """Return the sets after every cell fires once.

    Each gate is exact: it keeps a value if and only if members of its inputs' sets lead to it.
    """
    may_cancel()
    return _step(network, board, state)


def _step(network: Network, board: Board, state: Sets) -> Sets:
    wires = network.wires
    after = np.empty_like(state)
    scratch = np.empty(
        (2, 1 + len(wires.inputs) + len(wires.gates), kernels.BLOCK_WORDS), np.uint64
    )
    kernels.step(wires, board.shown, state, after, scratch)
    return after


def load_kernels() -> None:
    """Compile or load the kernel of `step`, which is the same for all circuits and boards."""
    board = Board(1, 1, "zero")
    _step(Network(unchanging()), board, everything(1, board))


def through(
    network: Network, full: int, least: list[int], most: list[int]
) -> tuple[Planes, Planes]:
    """Return the outputs' least and greatest members from those of literals up to the inputs.

    Sets are planes here: bits of integers, `full` of which count. All gates' are added. Inversion
    swaps the least and the greatest member and inverts both.
    """
    for is_xor, x, y in network.gates:
        if is_xor:  # x ∧ ¬y or ¬x ∧ y; flipping a literal's last bit inverts it
            low = least[x] & least[y ^ 1] | least[x ^ 1] & least[y]
            high = most[x] & most[y ^ 1] | most[x ^ 1] & most[y]
        else:
            low = least[x] & least[y]
            high = most[x] & most[y]
        least += (low, full ^ high)
        most += (high, full ^ low)
    return (
        tuple(least[literal] for literal in network.outputs),
        tuple(most[literal] for literal in network.outputs),
    )


def descend(network: Network, board: Board) -> Iterator[Sets]:
    """Yield the sets from everything on, after each step, until they stop shrinking."""
    state = everything(network.channels, board)
    while True:
        yield state
        after = step(network, board, state)
        if np.array_equal(after, state):
            return
        state = after


def as_array(board: Board, state: Sets) -> Bits:
    """Return sets as 0, 1 and UNKNOWN, shape (channels, height, width)."""
    least, most = map(board.bits, state)
    return np.where(least == most, least, np.uint8(UNKNOWN))
