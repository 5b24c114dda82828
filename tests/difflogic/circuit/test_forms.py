"""The forms of a gate against their own definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.circuit import gates
from difflogic.circuit.forms import FORMS, first_logits
from difflogic.circuit.gates import Op

LEAD = 3.0
TABLE = FORMS["truth-table"](LEAD)
NUMBERS = np.random.default_rng(0).normal(scale=2.0, size=(4, 50))


def test_a_truth_tables_rows_are_independent():
    probabilities = gates.softmax(TABLE.logits(NUMBERS).T)
    ones = 1 / (1 + np.exp(-NUMBERS))
    for gate, of_row in enumerate(ones.T):
        for op in range(gates.OPS):
            table = [(op >> (3 - corner)) & 1 for corner in range(4)]
            expected = np.prod([p if bit else 1 - p for p, bit in zip(of_row, table, strict=True)])
            assert probabilities[gate, op] == pytest.approx(expected)


@pytest.mark.parametrize("name", FORMS)
def test_an_untrained_gate_is_its_first_op(name):
    ops = np.array([Op.A, Op.OR, Op.A, Op.XOR, Op.A], np.uint8)
    logits = first_logits(name, 7.0, 0.0, ops, np.random.default_rng(0))
    assert logits.shape == (5, gates.OPS)
    assert_array_equal(gates.harden(logits), ops)
    best = np.sort(logits, axis=1)
    assert_allclose(best[:, -1] - best[:, -2], 7.0)


@pytest.mark.parametrize("name", FORMS)
def test_first_logits_have_the_given_spread(name):
    ops = np.full(5000, Op.A, np.uint8)
    calm = first_logits(name, 7.0, 0.0, ops, np.random.default_rng(0)).T
    spread = first_logits(name, 7.0, 0.5, ops, np.random.default_rng(0)).T
    form = FORMS[name](7.0)
    noise = spread - calm if form is None else form.numbers(spread) - form.numbers(calm)
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.std() == pytest.approx(0.5, rel=0.03)
    # Noise is independent.
    assert np.abs(np.corrcoef(noise)[np.triu_indices(len(noise), 1)]).max() < 0.07


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gates_of_another_form_become_sure_of_their_op(dtype):
    logits = TABLE.logits(NUMBERS).astype(dtype)
    other = np.random.default_rng(2).normal(size=logits.shape).astype(dtype)
    logits[:, ::2] = other[:, ::2]
    before = logits.copy()
    TABLE.conform(logits)
    assert_array_equal(logits.argmax(axis=0), before.argmax(axis=0))
    assert_array_equal(logits[:, 1::2], before[:, 1::2])
    ranked = np.sort(logits[:, ::2], axis=0)
    assert_allclose(ranked[-1] - ranked[-2], LEAD, rtol=1e-5)
    again = logits.copy()
    TABLE.conform(again)
    assert_array_equal(again, logits)
