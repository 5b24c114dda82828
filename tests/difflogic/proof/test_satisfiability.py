from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline


@pytest.mark.parametrize("op", range(16))
def test_every_op_in_every_case(op: int) -> None:
    with Formula() as formula:
        x, y = formula.variable(), formula.variable()
        gate = formula.gate(op, x, -y)
        for p, q in product((0, 1), repeat=2):
            given = [x if p else -x, -y if q else y]
            value = TRUTH_TABLES[op][2 * p + q]
            assert formula.solve([*given, gate if value else -gate]) is True
            assert formula.solve([*given, -gate if value else gate]) is False


def test_the_assignment_is_one_that_holds() -> None:
    with Formula() as formula:
        x, y = formula.variable(), formula.variable()
        formula.add([formula.gate(6, x, y)])
        formula.equate(x, formula.true)
        assert formula.solve([])
        assert {x, -y} <= formula.true_literals()


def pigeons(formula: Formula, holes: int) -> None:
    """Demand that one pigeon more than there are holes each has its own: short to say, hard."""
    at = np.array([[formula.variable() for _ in range(holes)] for _ in range(holes + 1)])
    for row in at.tolist():
        formula.add(row)
    for hole in range(holes):
        for one in range(holes + 1):
            for other in range(one):
                formula.add([-int(at[one, hole]), -int(at[other, hole])])


def test_a_gate_reads_only_what_is_known() -> None:
    """What an op ignores need not be; a row that is missing is never taken for a constant."""
    circuit = LogicCircuit(
        np.array([3, 1], np.uint8), np.array([0, 0]), np.array([5, 5]), np.array([9]), (0,)
    )
    with Formula() as formula:
        literals = {0: formula.variable()}
        formula.gates(circuit, [0], literals)
        assert literals == {0: literals[0], 9: literals[0]}
        with pytest.raises(KeyError):
            formula.gates(circuit, [1], literals)


def test_gives_up_at_the_deadline() -> None:
    with Formula() as formula:
        pigeons(formula, 11)
        # Its proof is far longer than that: 12 pigeons in 11 holes.
        assert formula.solve([], Deadline.after(0.3)) is None


def test_gives_up_after_so_many_conflicts() -> None:
    with Formula() as formula:
        pigeons(formula, 11)
        assert formula.solve([], most=500) is None
        # The solver looks at its budget when it begins anew, not at each conflict.
        assert 500 <= formula.conflicts < 5000


def test_answers_within_its_bounds() -> None:
    with Formula() as formula:
        pigeons(formula, 5)
        assert formula.solve([], Deadline.after(60), 100_000) is False
