"""Settling of rules with known behaviour."""

from __future__ import annotations

import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.inspection.fixed_points import Period
from difflogic.inspection.settling import STARTS, settle
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import from_function, life_like

KEEP = from_function(lambda board: int(board[1, 1]))
INVERT = from_function(lambda board: 1 - int(board[1, 1]))
MOVE = from_function(lambda board: int(board[1, 0]))


@pytest.mark.parametrize(
    ("circuit", "fixed", "cycles"), [(KEEP, STARTS, {}), (INVERT, 0, {2: STARTS})]
)
def test_a_rule_that_keeps_or_inverts(circuit: Circuit, fixed: int, cycles: dict[int, int]) -> None:
    found = settle(automaton(circuit), 0, 20)
    assert found is not None
    assert (found.starts, found.fixed, found.cycles, found.unsettled) == (STARTS, fixed, cycles, 0)


def test_a_rule_that_moves_around_a_torus() -> None:
    found = settle(automaton(MOVE, height=1, width=7), 3, 20)
    assert found is not None
    # Seven is prime, and a uniform start is a fixed point.
    assert found.cycles[7] + found.fixed == STARTS
    assert sum(found.periods.values()) == STARTS
    assert found.periods[Period(1, 7)] == found.cycles[7]


def test_a_rule_that_moves_off_the_grid() -> None:
    found = settle(automaton(MOVE, height=3, width=4, boundary="zero"), 0, 20)
    assert found is not None
    assert found.fixed == STARTS
    assert found.periods == {Period(1, 1): STARTS}
    early = settle(automaton(MOVE, height=3, width=4, boundary="zero", steps=3), 0, 20)
    assert early is not None
    assert 0 < early.unsettled < STARTS


@pytest.mark.parametrize("start", ["zeros", "center"])
def test_one_start(start: str) -> None:
    # A blinker needs three cells, one cell dies at once.
    found = settle(automaton(life_like("3", "23"), start=start, steps=1), 0, 20)
    assert found is not None
    assert (found.starts, found.fixed, found.periods) == (1, 1, {Period(1, 1): 1})
    blinks = settle(automaton(life_like("01", ""), start=start, steps=1), 0, 20)
    assert blinks is not None
    assert blinks.fixed == 0
