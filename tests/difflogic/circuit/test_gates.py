import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.circuit import gates

BY_NAME = {
    "FALSE": lambda a, b: False,
    "AND": lambda a, b: a and b,
    "A_AND_NOT_B": lambda a, b: a and not b,
    "A": lambda a, b: a,
    "NOT_A_AND_B": lambda a, b: not a and b,
    "B": lambda a, b: b,
    "XOR": lambda a, b: a != b,
    "OR": lambda a, b: a or b,
    "NOR": lambda a, b: not (a or b),
    "XNOR": lambda a, b: a == b,
    "NOT_B": lambda a, b: not b,
    "A_OR_NOT_B": lambda a, b: a or not b,
    "NOT_A": lambda a, b: not a,
    "NOT_A_OR_B": lambda a, b: not a or b,
    "NAND": lambda a, b: not (a and b),
    "TRUE": lambda a, b: True,
}
"""In the field's order, from the table of Petersen et al."""

CORNERS = [(False, False), (False, True), (True, False), (True, True)]

probabilities = st.integers(1, 4).flatmap(
    lambda n: arrays(np.float64, (n, 16), elements=st.floats(-8, 8)).map(gates.softmax)
)


def value(coefficients, a, b):
    c0, c1, c2, c3 = coefficients
    return c0 + c1 * a + c2 * b + c3 * a * b


def test_order_of_ops():
    assert [op.name for op in gates.Op] == list(BY_NAME)


@pytest.mark.parametrize("op", gates.Op)
def test_table_coefficients_symbol_and_inputs_of_an_op(op):
    source = gates.SYMBOLS[op]
    for sign, word in {"¬": " not ", "∧": " and ", "∨": " or ", "⊕": " != "}.items():
        source = source.replace(sign, word)
    for corner, (a, b) in enumerate(CORNERS):
        expected = BY_NAME[op.name](a, b)
        assert gates.TRUTH_TABLES[op, corner] == expected
        assert value(gates.COEFFICIENTS[op], int(a), int(b)) == expected
        assert (op >> (3 - corner)) & 1 == expected
        assert eval(source.strip(), {"a": a, "b": b}) == expected
    table = gates.TRUTH_TABLES[op].reshape(2, 2)
    reads = ((table[0] != table[1]).any(), (table[:, 0] != table[:, 1]).any())
    assert gates.READS[op] == reads


@given(arrays(np.float64, (3, 16), elements=st.floats(-1e4, 1e4)))
def test_softmax(logits):
    before = logits.copy()
    p = gates.softmax(logits)
    assert_array_equal(logits, before)
    assert (p >= 0).all()
    assert_allclose(p.sum(axis=1), 1)
    assert_allclose(gates.softmax(logits + 7.0), p, atol=1e-10)


@given(probabilities, st.floats(0, 1), st.floats(0, 1))
def test_mix_is_the_weighted_sum_of_the_ops(p, a, b):
    mixed = gates.mix(p)
    assert mixed.shape == (len(p), 4)
    for row, weights in zip(mixed, p, strict=True):
        each = [value(gates.COEFFICIENTS[op], a, b) for op in gates.Op]
        assert value(row, a, b) == pytest.approx(np.dot(weights, each), abs=1e-14)


def test_mix_gradient_against_finite_differences():
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, (5, 16))
    pull = rng.normal(size=(5, 4))
    gradient = gates.mix_gradient(gates.softmax(logits), pull)
    step = 1e-5
    for gate, op in np.ndindex(logits.shape):
        values = []
        for sign in (1, -1):
            moved = logits.copy()
            moved[gate, op] += sign * step
            values.append((gates.mix(gates.softmax(moved)) * pull).sum())
        numeric = (values[0] - values[1]) / (2 * step)
        assert gradient[gate, op] == pytest.approx(numeric, rel=1e-6, abs=1e-9)


def test_harden_and_one_hot():
    """Of a tie, the lowest op is taken."""
    ops = gates.harden(np.concatenate([np.eye(16), np.zeros((1, 16))]))
    assert ops.dtype == np.uint8
    assert ops.tolist() == [*range(16), 0]
    assert_array_equal(gates.one_hot(ops[:16]), gates.COEFFICIENTS)
