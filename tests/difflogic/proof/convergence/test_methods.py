"""Verdicts on every start, compared with all starts of small grids."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.gates import Op
from difflogic.proof.answer import Budget
from difflogic.proof.convergence import methods, orbits, sets
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import SETS, UNROLLED, Unrolled, answer_of
from difflogic.proof.convergence.planes import unpack
from difflogic.proof.prover import prove
from difflogic.proof.satisfiability import Formula
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import NEVER
from difflogic.system.errors import OutOfTimeError
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.asking import decide
from tests.difflogic.proof.convergence.brute import (
    all_states,
    questions,
    right_from,
    step_all,
    zeros,
)
from tests.examples import examples

W = 3
C = 4
E = 5


GATES = [(Op.AND, C, E), (Op.A_AND_NOT_B, C, E), (Op.AND, 9, 10), (Op.OR, W, 11)]
COARSE = Convergence(circuit_of(GATES, [12]), (0,), 1, 4, "zero", np.zeros((1, 1, 4)))
"""Bits move to the right; sets do not know that a bit and its opposite are never both."""


def shown(question: Convergence, state) -> np.ndarray:
    return state[..., list(question.visible_places), :, :]


@pytest.mark.once
@given(questions())
@examples(60)
def test_verdicts_agree_with_all_starts(question: Convergence) -> None:
    found = decide(question, 20)
    expected = right_from(question)
    assert found.verdict is (Verdict.refuted if expected is None else Verdict.proved)
    if expected is not None:
        assert found.from_step >= expected
        # SAT needs all cells to fire at once: it proves nothing about other schedules.
        assert found.any_schedule == (found.method == SETS.name)
    else:
        assert found.any_schedule == (found.counterexample.period == 1)
    found = decide(replace(question, fire_rate=0.5), 20)
    if found.verdict is not Verdict.open:
        assert found.any_schedule
    # No cycle refutes it of any schedule.
    assert found.verdict is not Verdict.proved or expected is not None
    assert found.verdict is not Verdict.refuted or found.counterexample.period == 1


def test_no_time_leaves_it_open() -> None:
    question = Convergence(circuit_of([], [C]), (0,), 3, 3, "zero", zeros(3, 3))
    assert decide(question, 0.0).verdict is Verdict.open


@pytest.mark.parametrize("given_up", range(1, 6))
def test_a_solver_that_gives_up_proves_nothing(monkeypatch, given_up: int) -> None:
    solve = Formula.solve
    asked = list[int]()

    def solving(*given: Any) -> bool | None:
        asked.append(1)
        return None if len(asked) == given_up else solve(*given)

    monkeypatch.setattr(Formula, "solve", solving)
    try:
        found = UNROLLED.decide(COARSE, Budget(), answer_of(methods.by_sets(COARSE)))
    except OutOfTimeError:
        return
    finally:
        assert len(asked) >= given_up
    assert found.verdict is Verdict.proved
    assert found.assurance.from_step >= 4


def test_without_a_clock_what_may_go_on_for_long_is_not_asked() -> None:
    assert UNROLLED.name not in [each.method for each in prove(COARSE).evidence.attempts]


def test_sat_proves_nothing_about_other_schedules() -> None:
    found = decide(COARSE, 20)
    assert (found.verdict, found.method) == (Verdict.proved, UNROLLED.name)
    assert not found.any_schedule
    assert decide(replace(COARSE, fire_rate=0.5), 20).verdict is Verdict.open


def test_channels_that_are_read_must_all_be_known() -> None:
    """One ends at 0, another keeps what it has, and the third shows their disjunction."""
    circuit = circuit_of([(Op.FALSE, 12, 12), (Op.OR, 12, 13)], [12, 27, 28])
    question = Convergence(circuit, (2,), 1, 1, "zero", zeros(1, 1))
    assert methods.right_from(question) is None


@given(questions())
@settings(max_examples=25)
def test_unrolled_steps(question: Convergence) -> None:
    states = all_states(2, question.height, question.width)
    with Formula() as formula:
        layout = Unrolled(question, sets.everything(2, question.board), formula)
        for number in range(5):
            layout.advance(number, NEVER)
            wrong = (shown(question, states) != question.target).any(axis=(1, 2, 3))
            assert (layout.find_late(number, NEVER) is not None) == wrong.any()
            states = step_all(question.circuit, states, question.boundary)


@given(questions())
@settings(max_examples=25)
def test_every_step_of_an_orbit(question: Convergence) -> None:
    start = orbits.random_starts(question.board, 2, 1)
    found = orbits.orbit(question, start)
    state = unpack(question.board, start)[None]
    rights = []
    for number in range(found.first + 2 * found.period + 3):
        rights.append(bool((shown(question, state)[0] == question.target).all()))
        assert found.is_right(number) == rights[-1]
        state = step_all(question.circuit, state, question.boundary)
    if found.right_from is None:
        assert not all(rights[found.first :])
    else:
        assert all(rights[found.right_from :])
        assert not found.right_from or not rights[found.right_from - 1]


def test_the_limit_of_steps() -> None:
    # A single moving 1 needs as many steps as there are cells.
    circuit = circuit_of([(Op.A, W, W)], [9])
    question = Convergence(circuit, (0,), 1, 40, "periodic", zeros(1, 40))
    assert orbits.orbit(question, (1,), most=39) is None
    found = orbits.orbit(question, (1,))
    assert (found.first, found.period, found.right_from) == (0, 40, None)
