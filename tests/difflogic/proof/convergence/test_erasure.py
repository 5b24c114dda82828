"""The proof that erased cells come back, against all erasures, and against broken circuits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.proof.cases import ListedStarts
from difflogic.proof.convergence.erasure import right_from_erased
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.planes import Board, Network, pack, unpack
from difflogic.proof.prover import prove
from difflogic.tasks import make_task
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.pictures.test_tough import grown, question_of
from tests.examples import examples

SMALL = question_of(grown(3, 3))


def heals(question, step):
    """Return whether the target is there from `step` on, for all erasures of its final state."""
    cells = question.board.cells
    board = Board(question.height, question.width, "zero", 2**cells)
    ways = np.arange(2**cells)[:, None] >> np.arange(cells) & 1
    kept = ways.reshape(-1, question.height, question.width)
    network = Network(question.circuit)
    rest = (0,) * question.circuit.channels
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


@pytest.mark.parametrize("size", [(3, 3), (3, 4)])
def test_all_erasures_of_small_grids_heal(size):
    model = grown(*size)
    question = question_of(model)
    step = right_from_erased(question)
    assert step == make_task(model.config).growth.least_steps
    assert heals(question, step)
    assert not heals(question, step - 2)
    zeros = np.zeros((1, question.circuit.channels, *size), np.uint8)
    for due in (step, step - 2):
        cases = Cases("zeros", zeros, question.target[None], "zero", due, "")
        made = automaton(question.circuit, visible=question.visible, boundary="zero")
        assert prove(ListedStarts(made, cases, due, holds=True)).assurance.proved == (due == step)
    assert right_from_erased(replace(question, target=1 - question.target)) is None
    assert right_from_erased(replace(question, fire_rate=0.5)) is None


def test_cells_that_come_back_from_nothing_alone_do_not_heal():
    """A cell is one if all or none around it are: zeros become ones, but not one erased cell."""
    gates = []
    all_ = 0
    any_ = 0
    for row in range(2, 18, 2):
        gates += [(Op.AND, all_, row), (Op.OR, any_, row)]
        all_ = 18 + len(gates) - 2
        any_ = 18 + len(gates) - 1
    gates.append((Op.A_OR_NOT_B, all_, any_))
    shown = 18 + len(gates) - 1
    made = automaton(circuit_of(gates, [shown, shown]), visible=(1,), boundary="periodic")
    question = Convergence.of(made, np.ones((1, 4, 4), np.uint8))
    network = Network(question.circuit)
    ones = (question.board.full,) * 2
    assert network.step(question.board, (0, 0)) == network.step(question.board, ones) == ones
    state = (ones[0] - 1,) * 2
    for _ in range(20):
        state = network.step(question.board, state)
    assert state != ones
    assert right_from_erased(question) is None


@pytest.mark.once
@examples(60)
@given(st.lists(st.tuples(st.integers(0, 10**4), st.integers(0, 15)), min_size=1, max_size=2))
@example([(29, Op.XOR)])  # more settled groups lead to fewer
@example([(6, Op.TRUE), (32, Op.NOT_B)])  # a group is neither settled nor blank
@example([(34, Op.NOT_A_OR_B), (99, Op.NAND)])  # groups that read each other
@example([(2, Op.NOT_A), (52, Op.NOT_A)])  # the target is not shown
def test_what_is_proved_of_broken_circuits_is_true(changed):
    circuit = SMALL.circuit
    op = circuit.op.copy()
    for gate, other in changed:
        op[gate % len(op)] = other
    question = replace(SMALL, circuit=replace(circuit, op=op))
    step = right_from_erased(question)
    assert step is None or heals(question, step)
