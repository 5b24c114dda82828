import signal
import threading
from itertools import product

import numpy as np
import pytest

from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline


@pytest.mark.parametrize("op", range(16))
def test_every_op_in_every_case(op: int) -> None:
    with Formula() as formula:
        x = formula.variable()
        y = formula.variable()
        gate = formula.gate(op, x, -y)
        for p, q in product((0, 1), repeat=2):
            given = [x if p else -x, -y if q else y]
            value = TRUTH_TABLES[op][2 * p + q]
            assert formula.solve([*given, gate if value else -gate]) is True
            assert formula.solve([*given, -gate if value else gate]) is False


def pigeons(formula: Formula, holes: int) -> None:
    """Require a hole of its own for each of holes + 1 pigeons, which is hard to refute."""
    at = np.array([[formula.variable() for _ in range(holes)] for _ in range(holes + 1)])
    for row in at.tolist():
        formula.add(row)
    for hole in range(holes):
        for one in range(holes + 1):
            for other in range(one):
                formula.add([-int(at[one, hole]), -int(at[other, hole])])


def test_equal_gates_are_one_and_constants_need_none() -> None:
    with Formula() as formula:
        x = formula.variable()
        y = formula.variable()
        assert formula.or_(x, y) == -formula.and_(-y, -x)
        assert formula.xor_(x, -y) == -formula.xor_(y, x)
        assert formula.and_(x, -x) == formula.xor_(y, y) == formula.constant(0)
        assert formula.and_(formula.true, y) == y == -formula.xor_(y, formula.true)


def test_more_assumptions_than_variables() -> None:
    with Formula() as formula:
        x = formula.variable()
        y = formula.variable()
        gate = formula.and_(x, y)
        assert formula.solve([gate, formula.true, x] * 1000) is True
        assert formula.solve([gate, -x] * 1000) is False
        assert formula.solve([formula.constant(0)]) is False


def test_gives_up_at_the_deadline_and_after_a_number_of_conflicts() -> None:
    with Formula() as formula:
        pigeons(formula, 11)
        assert formula.solve([], most=500) is None
        # The solver checks its budget only when it restarts.
        assert 500 <= formula.conflicts < 5000
        assert formula.solve([], Deadline.after(0.3)) is None


@pytest.mark.thorough
def test_ctrl_c_ends_a_search() -> None:
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    with Formula() as formula:
        pigeons(formula, 14)

        def search() -> None:
            timer.start()
            formula.solve([], Deadline.after(20))

        with pytest.raises(KeyboardInterrupt):
            search()
        timer.join()
