"""Equations, evaluated by Python from their text in ASCII."""

import re

import numpy as np
import pytest
from hypothesis import given

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.inspection.equations import Equations, equations
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.circuit.rules import circuits
from tests.examples import examples

ASCII = str.maketrans({"¬": "~", "∧": "&", "∨": "|", "⊕": "^"})
CASES = 256
ALL = (1 << CASES) - 1


def check(circuit: Circuit, found: Equations) -> None:
    """Compare the equations with the circuit, line by line, as expressions of Python."""
    inputs = np.random.default_rng(0).integers(0, 2, (circuit.inputs, CASES)).astype(bool)
    names = {
        f"{neighbor}{label}": as_int(inputs[n * circuit.channels + c])
        for n, neighbor in enumerate(NEIGHBORS)
        for c, label in enumerate(circuit.labels)
    }
    for line, written in zip(found.lines, found.texts, strict=True):
        target, ascii = written.translate(ASCII).replace("'", "_").split(" = ")
        assert ascii.isascii()
        assert target == line.target.replace("'", "_")
        assert target not in names
        require_parentheses(ascii)
        ascii = re.sub(r"\b1\b", str(ALL), ascii)  # in every case
        names[target] = eval(ascii, {}, names) & ALL
    for label, state in zip(circuit.labels, circuit.next_state(inputs), strict=True):
        assert names[f"n{label}_"] == as_int(state)


def as_int(bits: np.ndarray) -> int:
    return int("".join(map(str, bits.astype(int)))[::-1], 2)


def require_parentheses(text: str) -> None:
    """Two ops side by side need parentheses: a reader should not have to know which comes first."""
    while inner := re.search(r"\([^()]*\)", text):
        assert len(set(inner[0]) & set("&|^")) == 1, text
        text = text.replace(inner[0], "x")
    assert len(set(text) & set("&|^")) <= 1, text


def lines(circuit: Circuit) -> list[str]:
    return equations(circuit).texts


def one_channel(gates: list[tuple[Op, int, int]], outputs: tuple[int, ...] = ()) -> Circuit:
    """Return a circuit with a channel for each of `outputs`, by default for the last gate."""
    return circuit_of(gates, [*outputs] or [9 + len(gates) - 1])


@examples(50)
@given(circuits(gates=80))
def test_equations_compute_what_the_circuit_does(circuit: Circuit) -> None:
    found = equations(circuit)
    check(circuit, found)
    assert [line.channel for line in found.lines if line.channel is not None] == list(
        circuit.labels
    )


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        # C0 is row 4, NW0 row 0, E0 row 5.
        ([(Op.A_AND_NOT_B, 0, 5), (Op.XOR, 4, 9)], "n0' = C0 ⊕ (NW0 ∧ ¬E0)"),
        ([(Op.AND, 0, 1), (Op.AND, 9, 2), (Op.NOT_A, 10, 10)], "n0' = ¬NW0 ∨ ¬N0 ∨ ¬NE0"),
        ([(Op.NOR, 0, 1), (Op.NOR, 9, 2)], "n0' = ¬NE0 ∧ (NW0 ∨ N0)"),
        ([(Op.NOT_A_AND_B, 0, 1), (Op.NOR, 9, 2)], "n0' = ¬NE0 ∧ (NW0 ∨ ¬N0)"),
        ([(Op.XNOR, 0, 1), (Op.XNOR, 9, 2)], "n0' = NW0 ⊕ N0 ⊕ NE0"),
        ([(Op.XOR, 0, 1), (Op.XOR, 9, 1)], "n0' = NW0"),
        ([(Op.TRUE, 0, 0)], "n0' = 1"),
    ],
)
def test_how_equations_read(gates: list[tuple[Op, int, int]], expected: str) -> None:
    assert lines(one_channel(gates)) == [expected]


def test_repeated_expressions_get_a_name() -> None:
    gates = [(Op.AND, 0, 1), (Op.XOR, 9, 2), (Op.OR, 9, 3), (Op.AND, 10, 11)]
    assert lines(one_channel(gates)) == ["t1 = NW0 ∧ N0", "n0' = (NE0 ⊕ t1) ∧ (W0 ∨ t1)"]


def test_equal_next_states_share_a_name() -> None:
    gates = [(Op.AND, 0, 1), (Op.NAND, 0, 1)]
    circuit = one_channel(gates, outputs=(27, 28, 27))
    assert lines(circuit) == ["t1 = NW0 ∧ NW1", "n0' = t1", "n1' = ¬t1", "n2' = t1"]


@pytest.mark.once
@pytest.mark.parametrize("op", [Op.OR, Op.XNOR])
def test_a_chain_of_thousands_of_gates(op: Op) -> None:
    rng = np.random.default_rng(0)
    channels = 40
    gates = 3000
    inputs = 9 * channels
    rows = inputs + np.arange(gates) - 1
    circuit = Circuit(
        np.full(gates, op),
        rows,
        rng.integers(0, inputs, gates),
        np.full(channels, inputs + gates - 1),
        tuple(range(channels)),
    )
    check(circuit, equations(circuit))  # if the text doubled, this would never end
