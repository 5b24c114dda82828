"""The proof that erased cells come back, against all erasures, and against broken circuits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.places import steps_to_show
from difflogic.proof.convergence.erasing import right_from_erased
from difflogic.proof.convergence.planes import Board, Network, pack, unpack
from tests.difflogic.circuit.test_tough import grown, question_of

SMALL = question_of(grown(3, 3))


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


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(3, 3), (3, 4)])
def test_all_erasures_of_small_grids_heal(size):
    question = question_of(grown(*size))
    step = right_from_erased(question)
    assert step == steps_to_show(*size, True)
    assert heals(question, step)
    assert not heals(question, step - 2)
    assert right_from_erased(replace(question, target=1 - question.target)) is None
    assert right_from_erased(replace(question, fire_rate=0.5)) is None


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 15)), min_size=1, max_size=2))
def test_what_is_proved_of_broken_circuits_is_true(changed):
    circuit = SMALL.circuit
    op = circuit.op.copy()
    for gate, other in changed:
        op[gate % len(op)] = other
    question = replace(SMALL, circuit=replace(circuit, op=op))
    step = right_from_erased(question)
    assert step is None or heals(question, step)
