"""The compiled step on sets against Python's integers, on boards of all kinds."""

import numpy as np
import pytest

from difflogic.circuit.grid import Walls
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.planes import Board, Network, as_planes
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.circuit.rules import random_circuit

BOARDS = (
    Board(1, 1, "zero"),
    Board(1, 7, "periodic"),
    Board(2, 2, "periodic"),
    Board(8, 8, "zero"),
    Board(5, 13, "periodic"),
    Board(9, 15, Walls((2, 7), (1, 4, 10))),
    Board(70, 130, "zero"),
    Board(3, 3, "zero", 5),
    Board(11, 12, "zero", 70),
)
"""Also with whole words, with rows longer than a word, and with more words than a block has."""


def by_integers(
    network: Network, board: Board, state: sets.Sets
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    least = [0, board.full]
    most = [0, board.full]
    before = [as_planes(member) for member in state]
    for neighbor, channel in network.inputs:
        low, high = (board.seen(member[channel], neighbor) for member in before)
        least += (low, board.full ^ high)
        most += (high, board.full ^ low)
    return sets.through(network, board.full, least, most)


@pytest.mark.parametrize("board", BOARDS, ids=repr)
def test_the_compiled_step_is_that_of_integers(board: Board) -> None:
    rng = np.random.default_rng(board.cells)
    for gates in (0, 1, 40):
        network = Network(random_circuit(rng, 3, gates))
        shape = (3, board.copies, board.height, board.width)
        least = rng.integers(0, 2, shape, np.uint8)
        state = sets.between(board, least, least | rng.integers(0, 2, shape, np.uint8))
        after = sets.step(network, board, state)
        assert tuple(as_planes(member) for member in after) == by_integers(network, board, state)
        np.testing.assert_array_equal(board.bits(state[0]).reshape(shape), least)


def test_a_circuit_without_gates() -> None:
    board = Board(3, 4, "zero")
    (only,) = sets.descend(Network(circuit_of([], [4])), board)
    assert (sets.as_array(board, only) == sets.UNKNOWN).all(), "each cell keeps its bit"
