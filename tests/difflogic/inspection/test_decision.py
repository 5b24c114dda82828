"""Decisions whether a signal is ever 1, compared with all cases."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from hypothesis import given

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.xag import Xag, from_circuit
from difflogic.inspection.symmetry import decide_all_zero
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline
from difflogic.system.errors import OutOfTimeError
from tests.difflogic.circuit.circuits import all_cases
from tests.difflogic.circuit.rules import circuits


def soon() -> Deadline:
    return Deadline.after(20)


@given(circuits(channels=1))
def test_agrees_with_all_cases(circuit: Circuit) -> None:
    xag, outputs = from_circuit(circuit)
    ever = bool(circuit.next_state(all_cases(9))[0].any())
    assert decide_all_zero(xag, outputs, soon()).answer == ("no" if ever else "yes")


def conjunctions(inputs: int) -> tuple[Xag, int, int]:
    """Return two equal ANDs of all inputs, some inverted, built from both ends: rarely 1."""
    xag = Xag(inputs)
    literals = [xag.input(row) ^ (row % 3 == 0) for row in range(inputs)]
    up = down = 1
    for literal in literals:
        up = xag.and_(up, literal)
    for literal in reversed(literals):
        down = xag.and_(down, literal)
    return xag, up, down


@pytest.mark.parametrize("inputs", [8, 40])
def test_the_solver_proves(inputs: int) -> None:
    xag, up, down = conjunctions(inputs)
    found = decide_all_zero(xag, [xag.and_(up, down ^ 1), xag.and_(down, up ^ 1)], soon())
    assert (found.answer, found.method) == ("yes", "SAT")


def test_one_of_several_is_enough() -> None:
    xag, up, down = conjunctions(40)
    same = xag.and_(up, down ^ 1)
    assert decide_all_zero(xag, [0, same, xag.input(3)], soon()).answer == "no"
    assert decide_all_zero(xag, [0, same], soon()).answer == "yes"
    assert decide_all_zero(xag, [0, 1], soon()).answer == "no"


def test_xors_in_another_order_are_equal_without_a_search() -> None:
    inputs = 300
    xag = Xag(inputs)
    sums = [0, 1]
    for number, rows in enumerate((range(inputs), range(inputs - 1, -1, -1))):
        for row in rows:
            sums[number] = xag.xor_(sums[number], xag.input(row))
    assert decide_all_zero(xag, [xag.xor_(sums[0], sums[1]) ^ 1], soon()).method == "equal gates"
    assert decide_all_zero(xag, [xag.xor_(sums[0], sums[1])], soon()).answer == "no"
    one_less = xag.xor_(sums[1], xag.input(7))
    assert decide_all_zero(xag, [xag.xor_(sums[0], one_less) ^ 1], soon()).answer == "no"


def test_no_time_is_no_answer() -> None:
    for inputs in (20, 40):
        xag, up, down = conjunctions(inputs)
        with pytest.raises(OutOfTimeError):
            decide_all_zero(xag, [xag.and_(up, down ^ 1)], Deadline.after(0))


@pytest.mark.thorough
def test_ctrl_c_ends_a_search() -> None:
    """Random clauses of three literals, 4.3 per variable, are hard."""
    rng = np.random.default_rng(0)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    with Formula() as formula:
        variables = np.array([formula.variable() for _ in range(400)])
        for _ in range(1720):
            some = rng.choice(variables, 3, replace=False)
            formula.add((some * rng.choice([-1, 1], 3)).tolist())

        def search() -> None:
            timer.start()
            formula.solve([], soon())

        with pytest.raises(KeyboardInterrupt):
            search()
        timer.join()
