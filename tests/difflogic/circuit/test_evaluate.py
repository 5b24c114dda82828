"""The evaluator over words of bits and as text, against truth tables in all cases, at every row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic, Text, evaluate
from tests.difflogic.circuit.circuits import all_cases, circuits, looked_up

CASES = all_cases(9)


@given(circuits(channels=1), st.sampled_from([np.uint8, np.uint64]))
def test_words(circuit: Circuit, kind: type) -> None:
    words = np.packbits(CASES, axis=1, bitorder="little").view(kind)
    rows = np.array(evaluate(circuit, words, BitLogic(~np.zeros_like(words[0]))))
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    assert (bits == looked_up(circuit, CASES)).all()


@given(circuits(channels=1))
def test_text(circuit: Circuit) -> None:
    """As a Python program with one line per gate."""
    text = Text("FULL ^ FULL", "FULL")
    values = {f"r{row}": bits for row, bits in enumerate(CASES)} | {"FULL": np.ones(2**9, bool)}
    for gate, (op, a, b) in enumerate(zip(*circuit.lists, strict=True)):
        values[f"r{9 + gate}"] = eval(text.gate(op, f"r{a}", f"r{b}"), {}, values)
    found = [values[f"r{row}"] for row in range(circuit.rows)]
    assert (np.array(found) == looked_up(circuit, CASES)).all()
