"""Attacks the theorem of docs/certificates.md with schedules that should break it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.proof.convergence import by_sets, sets
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import pack
from tests.difflogic.circuit.circuits import step
from tests.difflogic.proof.convergence.brute import all_states, lies_in, questions, rounds
from tests.difflogic.proof.convergence.trained import checkerboard_question, trained


@pytest.mark.thorough
@given(questions([(1, 4), (2, 2), (3, 1)]))
@settings(max_examples=25)
def test_every_fair_schedule_of_random_circuits(question: Question) -> None:
    states = all_states(2, question.height, question.width)
    met = rounds(question.circuit, question.height, question.width, question.boundary)
    for known, reached in zip(
        islice(sets.descend(question.network, question.board), 6), met, strict=False
    ):
        array = sets.as_array(question.board, known)
        assert ((array == sets.UNKNOWN) | (array == states[reached])).all()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["checkerboard-seed-1", "checkerboard-async-seed-1"])
@pytest.mark.parametrize("alone", [False, True])
def test_rounds_of_trained_circuits(name: str, alone: bool) -> None:
    """Cells fire in a random order; or some again and again, before the last has fired."""
    question, rng = checkerboard_question(trained(name)), np.random.default_rng(5)
    shape = (question.height, question.width)
    state = rng.integers(0, 2, (question.circuit.channels, *shape), dtype=np.uint8)
    for known in by_sets(question).states[1:]:
        waiting, favoured = rng.permutation(64).reshape(shape), rng.random(shape)
        while (waiting >= 0).any():
            mask = waiting == waiting.max()
            if not alone:
                mask = rng.random(shape) < favoured**4 + 0.03
            state = step(question.circuit, state, question.boundary, mask)
            waiting[mask] = -1
        assert lies_in(pack(question.board, state), known)
    assert question.is_right(pack(question.board, state))
