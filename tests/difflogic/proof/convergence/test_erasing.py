"""The proof that erased cells come back, against all erasures, and against broken circuits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.places import place_bits, places, steps_to_show
from difflogic.circuit.tough import FLAGS, tough_stages
from difflogic.proof.convergence import Question
from difflogic.proof.convergence.erasing import right_from_erased
from difflogic.proof.convergence.planes import Board, Network, pack, unpack


def shower(height, width, *changed):
    """A question about tough places, which channel 0 shows: the parity of row and column.

    Of each (gate, op) in `changed`, the gate gets another op.
    """
    rows, columns = place_bits(height, width)
    channels = 1 + FLAGS + rows + columns
    values = [n * channels + 1 + c for n in range(9) for c in range(channels - 1)]
    gates = []
    for op, a, b in tough_stages(rows, columns, 20):
        gates += zip(op.tolist(), [values[i] for i in a], [values[i] for i in b], strict=True)
        values = [9 * channels + len(gates) - len(op) + i for i in range(len(op))]
    outputs = [9 * channels + len(gates), *values]
    center = 4 * channels + 1 + FLAGS
    gates.append((6, center, center + rows))
    op, a, b = np.array(gates).T
    for gate, other in changed:
        op[gate % (len(op) - channels)] = other
    rest = places(channels, height, width, True)
    target = rest[1 + FLAGS] ^ rest[1 + FLAGS + rows]
    circuit = Circuit(op, a, b, outputs, range(channels))
    return Question(circuit, (0,), height, width, "zero", target[None])


def heals(question, step):
    """Return whether the target is there from `step` on, for all erasures of its final state."""
    cells = question.board.cells
    board = Board(question.height, question.width, "zero", 2**cells)
    ways = np.arange(2**cells)[:, None] >> np.arange(cells) & 1
    kept = ways.reshape(-1, question.height, question.width)
    network, rest = Network(question.circuit), (0,) * question.circuit.channels
    for _ in range(64):
        rest = network.step(question.board, rest)
    state = pack(board, unpack(question.board, rest)[:, None] * kept)
    for _ in range(step):
        state = network.step(board, state)
    for _ in range(16):
        if state[0] != board.repeated(question.target_planes[0]):
            return False
        state = network.step(board, state)
    return True


@pytest.mark.parametrize("size", [(2, 2), (2, 5), (3, 3), (3, 4)])
def test_all_erasures_of_small_grids_heal(size):
    question = shower(*size)
    step = right_from_erased(question)
    assert step == steps_to_show(*size, True)
    assert heals(question, step)
    # A cell of number 0 shows what a blank one shows.
    assert heals(question, step - 1) == (4 in size or size[1] == 2)


def test_another_target_or_other_schedules_are_not_proved():
    question = shower(3, 4)
    wrong = Question(question.circuit, (0,), 3, 4, "zero", 1 - question.target)
    late = Question(question.circuit, (0,), 3, 4, "zero", question.target, fire_rate=0.5)
    assert right_from_erased(wrong) is None
    assert right_from_erased(late) is None


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 15)), min_size=1, max_size=2))
def test_what_is_proved_of_broken_circuits_is_true(changed):
    question = shower(3, 3, *changed)
    step = right_from_erased(question)
    assert step is None or heals(question, step)
