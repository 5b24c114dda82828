from typing import Any

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import circuit_of


def test_needed_follows_read_inputs_only() -> None:
    circuit = circuit_of([(Op.AND, 0, 1), (Op.A, 9, 2), (Op.XOR, 3, 4)], [10])
    assert np.flatnonzero(circuit.needed([0])).tolist() == [0, 1, 9, 10]
    assert circuit.read_inputs.tolist() == [0, 1]


def test_depth_counts_gates_on_the_longest_path() -> None:
    gates = [(Op.AND, 0, 1), (Op.XOR, 9, 2), (Op.B, 10, 3), (Op.TRUE, 10, 10)]
    assert [circuit_of(gates, [row]).depth for row in (10, 11, 12, 5)] == [2, 1, 1, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ()}, "at least one channel"),
        ({"a": [0]}, "one entry per gate"),
        ({"op": [1, 16]}, "gate 1: 16 is not an op"),
        ({"a": [0, 19]}, "gate 1 reads row 19.*may read rows 0 to 18"),
    ],
)
def test_invalid_circuits_are_refused(change: dict[str, Any], message: str) -> None:
    fitting = {"op": [1, 6], "a": [0, 18], "b": [1, 2], "outputs": [18, 19], "labels": (0, 1)}
    Circuit(**fitting)  # type: ignore[arg-type]
    with pytest.raises(CircuitError, match=message):
        Circuit(**(fitting | change))  # type: ignore[arg-type]


def test_arrays_are_copied_and_cannot_be_written() -> None:
    op = np.array([1], np.uint8)
    circuit = Circuit(op, np.array([0]), np.array([1]), np.array([9]), (0,))
    op[0] = 6
    assert circuit.op.tolist() == [1]
    with pytest.raises(ValueError, match="read-only"):
        circuit.a[0] = 3


def test_a_wrong_number_of_inputs_is_refused() -> None:
    with pytest.raises(ValueError, match="9 input rows expected, 8 given"):
        circuit_of([], [0]).next_state(np.zeros((8, 1), bool))
