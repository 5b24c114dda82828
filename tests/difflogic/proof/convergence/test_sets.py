"""The compiled step on sets against Python's integers, on boards of all kinds."""

import numpy as np
import pytest

from difflogic import Conditions, simulate
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import Walls
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.planes import Board, Network, as_planes
from tests.difflogic.circuit.circuits import Builder, automaton, circuit_of
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
    constant = Circuit(
        np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), np.array([4]), (0,)
    )
    board = Board(3, 4, "zero")
    (only,) = sets.descend(Network(constant), board)
    assert (sets.as_array(board, only) == sets.UNKNOWN).all(), "each cell keeps its bit"


def doubled(network: Network) -> Circuit:
    """Return a plain circuit whose channels are the least members of sets, then the greatest.

    An AND becomes two gates, an XOR six: x ∧ ¬y or ¬x ∧ y on sets. Inversion swaps the two.
    """
    channels = network.channels
    gate = Builder(2 * channels)
    rails = [(gate(Op.FALSE, 0, 0), gate(Op.FALSE, 0, 0))]

    def rail(literal: int) -> tuple[int, int]:
        low, high = rails[literal >> 1]
        if literal & 1:
            low, high = gate(Op.NOT_A, high, high), gate(Op.NOT_A, low, low)
        return low, high

    for neighbor, channel in network.inputs:
        low = neighbor * 2 * channels + channel
        rails.append((low, low + channels))
    for is_xor, x, y in network.gates:
        a, b = rail(x)
        c, d = rail(y)
        if is_xor:
            low = gate(Op.OR, gate(Op.A_AND_NOT_B, a, d), gate(Op.NOT_A_AND_B, b, c))
            high = gate(Op.OR, gate(Op.A_AND_NOT_B, b, c), gate(Op.NOT_A_AND_B, a, d))
        else:
            low = gate(Op.AND, a, c)
            high = gate(Op.AND, b, d)
        rails.append((low, high))
    outputs = [rail(literal) for literal in network.outputs]
    return circuit_of(gate.gates, [low for low, _ in outputs] + [high for _, high in outputs])


@pytest.mark.parametrize("size", [(1, 1), (3, 65), (9, 64), (33, 130)])
@pytest.mark.parametrize("boundary", ["zero", "periodic"])
def test_a_circuit_on_sets_is_a_plain_circuit_of_twice_its_channels(size, boundary) -> None:
    """Through another engine: the simulator of large grids."""
    rng = np.random.default_rng(size[1])
    for gates in (3, 40):
        network = Network(random_circuit(rng, 3, gates))
        board = Board(*size, boundary)
        state = sets.everything(3, board)
        twice = automaton(doubled(network), boundary=boundary, height=size[0], width=size[1])
        start = np.concatenate([board.bits(each) for each in state])
        for steps in range(1, 5):
            state = sets.step(network, board, state)
            found = simulate(twice, Conditions(start=start, steps=steps)).grid.bits()
            wanted = np.concatenate([board.bits(each) for each in state])
            np.testing.assert_array_equal(found, wanted)
