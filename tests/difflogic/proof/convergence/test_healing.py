"""Healing after damage, compared with walks through all states of small grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from difflogic.proof.convergence import NEVER, UNKNOWN, Question, orbit, run_from, steps_to_heal
from difflogic.proof.convergence.planes import pack, unpack
from tests.difflogic.proof.convergence.brute import all_states, questions, successors


def right_for_ever(question: Question, number: int, after: np.ndarray, right: np.ndarray) -> int:
    """Return the step from which the run of a state stays right, or NEVER."""
    walk = [number]
    while after[walk[-1]] not in walk:
        walk.append(int(after[walk[-1]]))
    first = walk.index(int(after[walk[-1]]))
    wrong = [step for step, state in enumerate(walk) if not right[state]]
    if not wrong:
        return 0
    return NEVER if wrong[-1] >= first else wrong[-1] + 1


@pytest.mark.thorough
@settings(max_examples=25)
@given(question=questions(), data=st.data())
def test_patches_on_all_states_of_a_run(question: Question, data) -> None:
    circuit, grid = question.circuit, (question.height, question.width)
    states = all_states(circuit.channels, *grid)
    after = successors(circuit, *grid, question.boundary)
    right = (states[:, list(question.visible_places)] == question.target).all(axis=(1, 2, 3))
    start = pack(question.board, np.zeros((circuit.channels, *grid), np.uint8))
    found = orbit(question, start)
    assume(found is not None and found.right_from is not None)
    resting = run_from(question, start, found, found.right_from)
    patch = arrays(np.uint8, grid, elements=st.integers(0, 1))
    patches = np.array(data.draw(st.lists(patch, min_size=1, max_size=5)))
    expected = np.zeros(len(patches), np.int64)
    weights = 1 << np.arange(states[0].size, dtype=np.int64)
    for planes in resting:
        bits = unpack(question.board, planes)
        for place, patch in enumerate(patches):
            number = int((bits * (1 - patch)).reshape(-1).astype(np.int64) @ weights)
            steps = right_for_ever(question, number, after, right)
            never = NEVER in (steps, expected[place])
            expected[place] = NEVER if never else max(steps, expected[place])
    assert steps_to_heal(question, resting, patches).tolist() == expected.tolist()
    for most in range(4):
        found = steps_to_heal(question, resting, patches, most=most)
        assert ((found == expected) | (found == UNKNOWN)).all()
