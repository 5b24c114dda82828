"""Grids of every size: tables against single runs, the theorem against much larger grids."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import Op
from difflogic.circuit.live_part import live_part
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.every_size import NO_ARRIVAL, Arrivals, EverySize, Target, arrivals
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.system.work import checking
from tests.difflogic.circuit.circuits import Builder, automaton, automaton_of, circuit_of
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.difflogic.proof.asking import every_size
from tests.difflogic.proof.convergence.brute import questions
from tests.difflogic.proof.convergence.trained import (
    NAMES,
    checkerboard,
    checkerboard_question,
    trained,
)
from tests.examples import any_seed


def of(automaton: Automaton, target: Target = checkerboard, repeats: int | None = 4) -> EverySize:
    return every_size(live_part(automaton), target, repeats, Deadline.after(60.0))


@pytest.mark.parametrize("rate", [1.0, 0.6])
def test_the_theorem_holds_for_much_larger_grids(rate: float) -> None:
    """No grid knows its target later than the table says; on small grids it says when."""
    automaton = tough_checkerboard(rate)
    found = of(automaton)
    assert found.verdict is Verdict.proved
    grids = found.table.grids
    assert {side % 4 for side in grids.sides[grids.first - 1 :]} == {0, 1, 2, 3}
    for height, width in ((1, 1), (2, 9), (1, 40), (37, 3), (21, 21), (16, 34), (31, 45)):
        single = by_sets(checkerboard_question(live_part(automaton), height, width)).from_step
        assert single <= found.table.from_step(height, width)


@pytest.mark.parametrize(
    ("gates", "outputs"),
    [
        # Nothing repeats on the smallest board,
        ([(11, 9, 1), (8, 7, 1), (14, 0, 14), (9, 4, 0), (2, 1, 21)], [19, 21]),
        # or by the delays that it shows by itself.
        ([(6, 5, 4), (1, 0, 8), (14, 8, 19), (15, 7, 0)], [19, 18]),
    ],
)
def test_what_repeats_late_is_found(gates: list[tuple[int, ...]], outputs: list[int]) -> None:
    small = live_part(automaton(circuit_of(gates, outputs), visible=(1,), boundary="zero"))
    table = every_size(small, checkerboard, 1, Deadline.after(60.0), compared=False).table
    for height, width in ((1, 7), (9, 9), (23, 30)):
        zeros = Convergence.of(small, np.zeros((1, height, width), np.uint8))
        *_, last = sets.descend(zeros.network, zeros.board)
        target = sets.as_array(zeros.board, last)[list(zeros.visible_places)]
        assert by_sets(replace(zeros, target=target)).from_step <= table.from_step(height, width)


@pytest.mark.parametrize("name", NAMES)
def test_one_grid_alone_is_not_every_size(name: str) -> None:
    """Circuits trained on one grid miss the target on another, which is named."""
    found = of(trained(name))
    assert found.verdict is Verdict.refuted
    assert found.refuted.counterexample is not None
    assert f"{found.refuted.question.height}×" in found.text


@given(questions(), any_seed)
@settings(max_examples=20)
def test_holding_back_is_sound(question: Convergence, seed: int) -> None:
    """A step on the sets of a table leads into the table's next sets, whatever is held back."""
    rng = np.random.default_rng(seed)
    shape = (2, question.height, question.width)
    earliest = rng.integers(0, 6, shape) * rng.integers(0, 2, shape)
    earliest[rng.random(shape) < 0.1] = NO_ARRIVAL
    found = arrivals(question, earliest)
    free = arrivals(question)
    assert (found.steps >= np.maximum(free.steps, earliest)).all()
    known = found.steps < NO_ARRIVAL
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


def known_at(question: Convergence, found: Arrivals, step: int) -> Sets:
    """Return the sets at a step of a table of arrivals."""
    least = np.where(found.steps <= step, found.values, 0)
    most = np.where(found.steps <= step, found.values, 1)
    return sets.between(question.board, least, most)


@pytest.mark.parametrize("repeats", [None, 32, 3])
def test_a_target_that_does_not_repeat_in_time(repeats: int | None) -> None:
    """Squares of 16 cells look uniform on the grids that a proof begins with."""
    target = partial(checkerboard, square=16)
    found = of(automaton_of(circuit_of([(Op.FALSE, 0, 0)], [9])), target, repeats)
    # Nothing else is known of the target, so a period of 3 would have to be true.
    assert (found.verdict is Verdict.proved) == (repeats == 3)


def test_a_hidden_counter_of_rows_is_not_taken_for_one_that_repeats() -> None:
    """Five bits count rows; what is shown repeats after two of them, and is wrong from the 20th."""
    gate = Builder(6)
    north = range(1 * 6, 1 * 6 + 5)
    own = range(4 * 6, 4 * 6 + 5)
    count = [gate(Op.NOT_A, north[0], north[0])]
    carry = north[0]
    for bit in north[1:]:
        count.append(gate(Op.XOR, bit, carry))
        carry = gate(Op.AND, bit, carry)
    late = gate(Op.AND, own[4], own[2])
    shown = gate(Op.XOR, own[0], late)
    counting = automaton(circuit_of(gate.gates, [*count, shown]), visible=(5,), boundary="zero")

    def rows(height: int, width: int) -> np.ndarray:
        return np.repeat(1 - np.arange(height) % 2, width).reshape(1, height, width)

    for height in (19, 20):
        single = by_sets(Convergence.of(live_part(counting), rows(height, 3)))
        assert (single.verdict is Verdict.proved) == (height < 20)
    assert of(counting, rows, 2).verdict is not Verdict.proved


def test_a_uniform_target_has_period_one_if_there_is_time() -> None:
    ones = automaton_of(circuit_of([(Op.TRUE, 0, 0)], [9]))
    target = lambda height, width: np.ones((1, height, width), np.uint8)  # noqa: E731
    table = of(ones, target, 1).table
    assert (table.grids.period, table.from_step(1000, 70)) == (1, 1)
    found = every_size(ones, target, 1, Deadline.after(-1))
    assert (found.verdict, found.reason) == (Verdict.open, "the time was up")
    with checking(Deadline.after(-1).check):  # in the middle of a step
        assert by_sets(Convergence.of(ones, target(3, 3))).verdict is Verdict.open
