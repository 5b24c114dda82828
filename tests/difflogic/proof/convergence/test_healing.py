"""Healing after damage, compared with walks through all states of small grids."""

from unittest import mock

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from difflogic.circuit.gates import Op
from difflogic.proof.convergence import orbits
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.orbits import LASTING, NOT_KNOWN, orbit, run_from, steps_to_heal
from difflogic.proof.convergence.planes import pack, unpack
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.convergence.brute import number, questions, settling_of, zeros


class Steps(int):
    """A number of steps, whatever the grid's side."""

    def __mul__(self, side: int) -> int:
        return int(self)


@settings(max_examples=25)
@given(question=questions(), data=st.data())
def test_patches_on_all_states_of_a_run(question: Convergence, data) -> None:
    circuit = question.circuit
    grid = (question.height, question.width)
    settled = settling_of(question)
    start = pack(question.board, np.zeros((circuit.channels, *grid), np.uint8))
    found = orbit(question, start)
    assume(found is not None and found.right_from is not None)
    resting = run_from(question, start, found, found.right_from)
    patch = arrays(np.uint8, grid, elements=st.integers(0, 1))
    patches = np.array(data.draw(st.lists(patch, min_size=1, max_size=5)))
    expected = np.zeros(len(patches), np.int64)
    for planes in resting:
        bits = unpack(question.board, planes)
        for place, patch in enumerate(patches):
            steps = settled[number(bits * (1 - patch))]
            never = LASTING in (steps, expected[place])
            expected[place] = LASTING if never else max(steps, expected[place])
    # Each damage is followed alone; or together for a step; or as always.
    for together in (Steps(0), Steps(1), orbits.TOGETHER):
        with mock.patch.object(orbits, "TOGETHER", together):
            assert steps_to_heal(question, resting, patches).tolist() == expected.tolist()
            for most in range(4):
                found = steps_to_heal(question, resting, patches, most=most)
                assert ((found == expected) | (found == NOT_KNOWN)).all()


def test_a_wound_that_shows_the_target_for_a_step_has_not_healed() -> None:
    """Once a hidden bit is lost, a second one comes, and the wrong cell a step after it."""
    # a cell's own channels
    second = 13
    hidden = 14
    circuit = circuit_of([(Op.NOT_A, hidden, hidden)], [second, 27, hidden])
    question = Convergence(circuit, (0,), 1, 1, "zero", zeros(1, 1))
    resting = [pack(question.board, np.array([[[0]], [[0]], [[1]]], np.uint8))]
    patches = np.array([[[0]], [[1]]], np.uint8)
    assert steps_to_heal(question, resting, patches).tolist() == [0, LASTING]
