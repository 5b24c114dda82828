"""Grids of every size: tables against single runs, the theorem against much larger grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.gates import Op
from difflogic.proof.convergence import by_sets, sets
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import pack
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.convergence.sizes import NEVER, Arrivals, Sizes, arrivals
from difflogic.system.deadline import Deadline
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.convergence.brute import questions
from tests.difflogic.proof.convergence.trained import checkerboard, checkerboard_question, trained

ONE_CORNER = ("checkerboard-seed-1", "checkerboard-seed-3")


def sizes_of(name: str) -> Sizes:
    automaton = trained(name)
    return Sizes(automaton.circuit, automaton.visible, checkerboard, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ONE_CORNER)
def test_the_theorem_holds_for_much_larger_grids(name: str) -> None:
    found = sizes_of(name)
    theorem = found.theorem()
    assert theorem is not None
    assert theorem.period == 4
    assert (0, 0) in theorem.bases
    tried = 0
    for (rows, columns), base in theorem.bases.items():
        assert (base.height % 4, base.width % 4) == (rows, columns)
        for down, across in ((0, 0), (1, 0), (0, 1), (2, 5), (9, 3), (12, 12)):
            height, width = base.height + 4 * down, base.width + 4 * across
            actual = found.certify(height, width).from_step
            proved = theorem.from_step(height, width)
            assert proved is not None
            assert actual is not None
            assert actual <= proved
            tried += 1
        assert theorem.from_step(base.height - 4, base.width) is None
    assert tried >= 6


def test_a_table_agrees_with_single_grids() -> None:
    found = sizes_of("checkerboard-seed-1")
    table = list(found.table(range(4, 20)))
    assert [size.height for size in table] == list(range(4, 20))
    for size in table:
        single = by_sets(
            checkerboard_question(trained("checkerboard-seed-1"), size.height, size.width)
        )
        assert size.from_step == single.from_step
    assert [size.from_step for size in table if size.from_step] == [6, 10, 14, 18]
    assert list(found.table(range(4, 20), Deadline.after(-1))) == []


@given(questions(), st.integers(0, 2**32))
@settings(max_examples=20)
def test_holding_back_is_sound(question: Question, seed: int) -> None:
    """A step on the sets of a table leads into the table's next sets, whatever is held back."""
    rng = np.random.default_rng(seed)
    shape = (2, question.height, question.width)
    earliest = rng.integers(0, 6, shape) * rng.integers(0, 2, shape)
    earliest[rng.random(shape) < 0.1] = NEVER
    found = arrivals(question, earliest)
    free = arrivals(question, np.zeros(shape, np.int64))
    assert (found.steps >= np.maximum(free.steps, earliest)).all()
    known = found.steps < NEVER
    assert (found.values[known] == free.values[known]).all()
    for step in range(int(found.steps[known].max(initial=0)) + 2):
        after = sets.step(question.network, question.board, known_at(question, found, step))
        after, expected = (
            sets.as_array(question.board, each)
            for each in (after, known_at(question, found, step + 1))
        )
        assert ((expected == sets.UNKNOWN) | (expected == after)).all()
    run = list(sets.descend(question.network, question.board))
    for step, state in enumerate(run):
        array = sets.as_array(question.board, state)
        assert ((array != sets.UNKNOWN) == (free.steps <= step)).all()


def known_at(question: Question, found: Arrivals, step: int) -> Sets:
    """Return the sets at a step of a table of arrivals."""
    least = np.where(found.steps <= step, found.values, 0)
    most = np.where(found.steps <= step, found.values, 1)
    return Sets(pack(question.board, least), pack(question.board, most))


def test_a_uniform_target_has_period_one() -> None:
    circuit = circuit_of([(Op.TRUE, 0, 0)], [9])
    found = Sizes(circuit, (0,), lambda height, width: np.ones((1, height, width), np.uint8), 1)
    theorem = found.theorem()
    assert theorem is not None
    assert theorem.period == 1
    assert theorem.from_step(1000, 70) == 1


@pytest.mark.parametrize("repeats", [None, 32, 3])
def test_a_target_that_does_not_repeat_in_time(repeats: int | None) -> None:
    """Squares of 16 cells look uniform on the grids that a proof begins with."""

    def zeros(height: int, width: int) -> np.ndarray:
        y, x = np.indices((height, width)) // 16
        return ((x + y) % 2).astype(np.uint8)[None]

    circuit = circuit_of([(Op.FALSE, 0, 0)], [9])
    theorem = Sizes(circuit, (0,), zeros, repeats).theorem()
    # Nothing else is known of the target, so a period of 3 would have to be true.
    assert (theorem is None) == (repeats != 3)
