"""Wounds that stay local, against sets of values on whole grids; test_wounds has all runs."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.circuit.live_part import live_part
from difflogic.proof.convergence import confinement, sets
from difflogic.proof.convergence.confinement import Ground, confine
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import Deadline
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.difflogic.proof.asking import every_size
from tests.difflogic.proof.convergence.brute import zeros
from tests.difflogic.proof.convergence.trained import (
    NAMES,
    checkerboard,
    checkerboard_question,
    trained,
)
from tests.difflogic.proof.wounds import replay


def calm_on(question: Convergence, height: int, width: int) -> Bits:
    """Return the sets that a checkerboard ends in, on a grid of its own."""
    target = checkerboard(height, width)
    alone = replace(question, height=height, width=width, boundary="zero", target=target)
    return sets.as_array(alone.board, by_sets(alone).final_sets)


def test_grids_of_any_size_are_put_together_from_small_ones() -> None:
    made = live_part(tough_checkerboard(0.6))
    table = every_size(made, checkerboard, 4, Deadline.after(60)).table
    ground = Ground.of(table)
    heights, widths = ground.sides(10)
    for height, width in ((1, 9), (12, 13), (21, 30), (30, 18)):
        alone = calm_on(table.question, height, width)
        made = ground.part(heights[height - 1], widths[width - 1])
        assert ((made == alone) | (made == sets.UNKNOWN)).all()
        assert (made[list(table.question.visible_places)] == checkerboard(height, width)).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_way_streets_are_refuted(name: str) -> None:
    question = checkerboard_question(trained(name), 16, 16)
    calm = calm_on(question, 16, 16)
    for erased in (True, False):
        found = confine(question, Wound(2, 3, 0, erased), Ground(calm))
        assert found.margin is None or found.margin > 2
        replay(question, found)


def test_what_only_some_orders_do_counts() -> None:
    """A cell is wrong if one cell above has fired once since it was erased, and the next has not.

    Those that fire together never differ so.
    """
    # channels: what is shown; has fired; has fired twice
    above = 3 * 1
    beside = 3 * 2
    once = (Op.A_AND_NOT_B, above + 1, above + 2)
    gates = [once, (Op.A_AND_NOT_B, 27, beside + 1), (Op.TRUE, 13, 13)]
    circuit = circuit_of(gates, [28, 29, 13])
    target = zeros(12, 12)
    question = Convergence(circuit, (0,), 12, 12, "zero", target, 0.5)
    assert by_sets(question).verdict is Verdict.proved
    ground = Ground(np.concatenate([target, np.ones((2, 12, 12), np.uint8)]))
    together = replace(question, fire_rate=1.0)
    assert confine(together, Wound(2, 0, 1), ground).verdict is Verdict.proved
    assert confine(question, Wound(2, 0, 1), ground).verdict is not Verdict.proved


def test_a_hidden_bit_that_is_not_known_may_be_one() -> None:
    """A cell is wrong if the one above has fired once since it was erased, and a bit says so."""
    # channels: what is shown; has fired; has fired twice; the bit
    above = 4 * 1
    own = 4 * 4
    gates = [(Op.A_AND_NOT_B, above + 1, above + 2), (Op.AND, 36, own + 3), (Op.TRUE, own, own)]
    circuit = circuit_of(gates, [37, 38, own + 1, own + 3])
    target = zeros(12, 12)
    question = Convergence(circuit, (0,), 12, 12, "zero", target)
    for bit in (0, 1, sets.UNKNOWN):
        known = [np.full((1, 12, 12), value, np.uint8) for value in (0, 1, 1, bit)]
        found = confine(question, Wound(2, 0, 1), Ground(np.concatenate(known)))
        assert (found.verdict is Verdict.proved) == (bit == 0)


@pytest.mark.parametrize("plain", [lambda asked, state: 0 * state, lambda asked, state: 1 - state])
def test_a_wrong_witness_is_repeated_plainly(monkeypatch: pytest.MonkeyPatch, plain) -> None:
    """Ones move on; for the plain one they do not, or are where there is no wound."""
    question = Convergence(circuit_of([], [3]), (0,), 6, 6, "zero", zeros(6, 6))
    wound = Wound(1, zeros=False)
    assert confine(question, wound, Ground(zeros(6, 6))).verdict is Verdict.refuted
    monkeypatch.setattr(confinement, "plain_step", plain)
    with pytest.raises(RuntimeError, match="the plain interpreter disagrees"):
        confine(question, wound, Ground(zeros(6, 6)))


@pytest.mark.thorough
def test_limits_leave_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    question = checkerboard_question(tough_checkerboard(), 9, 9)
    calm = calm_on(question, 9, 9)
    wound = Wound(2, 1, 1)
    ground = Ground(calm)
    assert confine(question, wound, ground).verdict is Verdict.proved
    assert confine(question, wound, ground, Deadline.after(-1)).verdict is Verdict.open
    assert confine(question, Wound(2, 4, 4), ground).verdict is Verdict.open  # there is no place
    other = calm.copy()
    other[0, 4, 4] ^= 1
    assert confine(question, wound, Ground(other)).verdict is not Verdict.proved  # not stable
    for name, value in (("MOST_BITS", 1), ("ROUNDS_PER_ROW", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(confinement, name, value)
            assert confine(question, wound, ground).verdict is Verdict.open
    monkeypatch.setattr(confinement, "BITS_AT_ONCE", 1)  # windows one by one
    assert confine(question, wound, ground) == confine(question, wound, Ground(calm.copy()))
