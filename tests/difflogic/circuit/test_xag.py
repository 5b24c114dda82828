from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import TRUTH_TABLES, Op
from difflogic.circuit.xag import Xag, XagGate, from_circuit, to_circuit
from tests.difflogic.circuit.circuits import circuit_of, circuits, same_next_states


def rebuilt(circuit: Circuit) -> Circuit:
    xag, outputs = from_circuit(circuit)
    return to_circuit(xag, outputs, circuit.labels, range(circuit.channels))


def value(xag: Xag, literal: int, inputs: Iterable[int], true: int = 1) -> int:
    """Evaluate a literal one node at a time; each bit of the inputs is a case."""
    values = [0, *inputs]
    for kind, x, y in zip(xag.kind, xag.x, xag.y, strict=True):
        p, q = (values[z >> 1] ^ true * (z & 1) for z in (x, y))
        values.append(p & q if kind is XagGate.AND else p ^ q)
    return values[literal >> 1] ^ true * (literal & 1)


@pytest.mark.parametrize("op", list(Op))
def test_every_op_of_every_pair_of_literals(op: Op) -> None:
    literals = range(6)  # the constants, and two inputs, each also inverted
    for x, y in product(literals, repeat=2):
        xag = Xag(2)
        found = xag.gate(op, x, y)
        for inputs in product((0, 1), repeat=2):
            p = value(xag, x, inputs)
            q = value(xag, y, inputs)
            assert value(xag, found, inputs) == TRUTH_TABLES[op][2 * p + q]
        distinct = x >> 1 and y >> 1 and x >> 1 != y >> 1
        real = op not in (Op.FALSE, Op.A, Op.B, Op.NOT_A, Op.NOT_B, Op.TRUE)
        assert len(xag.kind) == bool(distinct and real)


@given(circuits())
def test_rebuilding_keeps_the_function_and_adds_no_gate(circuit: Circuit) -> None:
    folded = rebuilt(circuit)
    assert same_next_states(circuit, folded)
    needed = circuit.needed(range(circuit.channels))[circuit.inputs :].sum()
    assert folded.gates <= needed


def test_inverters_melt_into_ops() -> None:
    circuit = circuit_of(
        [(Op.NOT_A, 0, 0), (Op.NOT_B, 0, 1), (Op.AND, 9, 10), (Op.NOT_A, 11, 11)], [12]
    )
    assert rebuilt(circuit).op_counts() == {Op.OR: 1}


def test_kept_channels_keep_labels_and_wires() -> None:
    xag = Xag(18)
    # Channel 1 of the east, of two channels.
    outputs = [xag.input(0), xag.and_(xag.input(11), xag.input(9) ^ 1)]
    circuit = to_circuit(xag, outputs[1:], (8,), [1])
    assert circuit.labels == (8,)
    cases = np.zeros((9, 4), bool)
    cases[5] = [0, 1, 0, 1]
    cases[4] = [0, 0, 1, 1]
    assert circuit.next_state(cases).tolist() == [[False, True, False, False]]


def test_a_channel_that_is_read_cannot_be_dropped() -> None:
    xag = Xag(18)
    with pytest.raises(ValueError, match="reads channel 0, which does not stay"):
        to_circuit(xag, [xag.input(0)], (1,), [1])
