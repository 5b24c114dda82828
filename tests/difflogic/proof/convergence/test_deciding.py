"""Verdicts on every start, against all starts of small grids, one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.gates import TRUTH_TABLES, Op
from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.deciding import Unrolled, decide
from difflogic.proof.convergence.findings import Method, Question, Verdict
from difflogic.proof.convergence.planes import pack, unpack
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import NEVER
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.convergence.brute import (
    all_states,
    lies_in,
    questions,
    right_from,
    step_all,
)

W, C = 3, 4
REACHED = 40


def shown(question: Question, state) -> np.ndarray:
    return state[..., list(question.shown), :, :]


class TestVerdicts:
    @pytest.mark.thorough
    @given(questions())
    @settings(max_examples=60)
    def test_agree_with_all_starts(self, question: Question) -> None:
        found, expected = decide(question, 20), right_from(question)
        assert found.verdict is (Verdict.refuted if expected is None else Verdict.proved)
        if expected is not None:
            assert found.from_step is not None
            assert found.from_step >= expected
            # SAT is exact where sets, whose steps come first, tell nothing.
            if found.method is Method.sat and found.reach == sets.everything(2, question.board):
                assert found.from_step == expected

    @pytest.mark.thorough
    @given(questions())
    @settings(max_examples=25)
    def test_any_schedule_is_never_refuted_by_a_cycle(self, question: Question) -> None:
        found = decide(replace(question, synchronous=False), 20)
        if found.verdict is Verdict.proved:
            assert found.any_schedule
            assert right_from(question) is not None
        if found.verdict is Verdict.refuted:
            assert found.any_schedule
            assert found.counterexample is not None
            assert found.counterexample.period == 1

    def test_no_time_leaves_it_open(self) -> None:
        target = np.zeros((1, 3, 3), np.uint8)
        question = Question(circuit_of([], [C]), (0,), 3, 3, "zero", target)
        assert decide(question, 0.0).verdict is Verdict.open


class TestMethods:
    """Each alone says only what holds of all starts."""

    @pytest.mark.thorough
    @given(questions())
    @settings(max_examples=25)
    def test_states_lie_in_their_sets(self, question: Question) -> None:
        states = all_states(2, question.height, question.width)
        for known in list(sets.descend(question.network, question.board))[:REACHED]:
            packed = [pack(question.board, state) for state in states[:: max(1, len(states) // 64)]]
            assert all(lies_in(state, known) for state in packed)
            array = sets.as_array(question.board, known)
            assert ((array == sets.UNKNOWN) | (array == states)).all()
            states = step_all(question.circuit, states, question.boundary)

    @pytest.mark.thorough
    @given(questions())
    @settings(max_examples=25)
    def test_unrolled_steps(self, question: Question) -> None:
        states = all_states(2, question.height, question.width)
        with Formula() as formula:
            layout = Unrolled(question, sets.everything(2, question.board), formula)
            for step in range(5):
                assert layout.advance(step, NEVER)
                wrong = (shown(question, states) != question.target).any(axis=(1, 2, 3))
                assert (layout.ask_late(step, NEVER) is not None) == wrong.any()
                states = step_all(question.circuit, states, question.boundary)


@pytest.mark.parametrize("op", list(Op))
def test_a_gate_on_sets_gives_all_values_and_no_others(op: Op) -> None:
    """On a row of two cells the right one reads both, whose sets are {0}, {1} or {0, 1}."""
    question = Question(circuit_of([(op, W, C)], [9]), (0,), 1, 2, "zero", np.zeros((1, 1, 2)))
    for left, right in product(((0,), (1,), (0, 1)), repeat=2):
        known = sets.Sets((min(left) | min(right) << 1,), (max(left) | max(right) << 1,))
        after = sets.step(question.network, question.board, known)
        made = {TRUTH_TABLES[op, 2 * x + y] for x, y in product(left, right)}
        assert {after.least[0] >> 1, after.most[0] >> 1} == made


class TestOrbits:
    @given(questions())
    @settings(max_examples=25)
    def test_tell_every_step(self, question: Question) -> None:
        start = orbits.random_starts(question.board, 2, 1)
        found = orbits.orbit(question, start)
        assert found is not None
        state = unpack(question.board, start)[None]
        rights = []
        for step in range(found.first + 2 * found.period + 3):
            rights.append(bool((shown(question, state)[0] == question.target).all()))
            assert found.is_right(step) == rights[-1]
            state = step_all(question.circuit, state, question.boundary)
        if found.right_from is None:
            assert not all(rights[found.first :])
        else:
            assert all(rights[found.right_from :])
            assert not found.right_from or not rights[found.right_from - 1]

    def test_give_up(self) -> None:
        # A glider of one cell takes as many steps as there are cells.
        circuit = circuit_of([(Op.A, W, W)], [9])
        question = Question(circuit, (0,), 1, 40, "periodic", np.zeros((1, 1, 40), np.uint8))
        assert orbits.orbit(question, (1,), most=39) is None
        found = orbits.orbit(question, (1,))
        assert found is not None
        assert (found.first, found.period, found.right_from) == (0, 40, None)


def test_a_target_has_to_fit() -> None:
    with pytest.raises(CircuitError, match=r"\(1, 2, 2\) is needed"):
        Question(circuit_of([], [0]), (0,), 2, 2, "zero", np.zeros((2, 2, 2), np.uint8))
