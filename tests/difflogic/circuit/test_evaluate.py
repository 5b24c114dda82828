"""The evaluator over every algebra, against truth tables in all cases."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic, Soft, Text, evaluate
from difflogic.circuit.gates import COEFFICIENTS
from difflogic.proof.convergence.planes import Board, Network
from tests.difflogic.circuit.circuits import all_cases, circuits, looked_up

CASES = all_cases(9)
FULL = (1 << 2**9) - 1


def as_integer(bits: np.ndarray) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


class TestAlgebras:
    """Each algebra agrees with truth tables in every case, at every row."""

    @given(circuits(channels=1), st.sampled_from([np.uint8, np.uint64]))
    def test_words(self, circuit: Circuit, kind: type) -> None:
        words = np.packbits(CASES, axis=1, bitorder="little").view(kind)
        rows = np.array(evaluate(circuit, words, BitLogic(~np.zeros_like(words[0]))))
        bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
        assert (bits == looked_up(circuit, CASES)).all()

    @given(circuits(channels=1))
    def test_reals_at_the_corners(self, circuit: Circuit) -> None:
        rows = evaluate(circuit, CASES.astype(float), Soft(COEFFICIENTS))
        assert (np.broadcast_arrays(*rows) == looked_up(circuit, CASES)).all()

    @given(circuits(channels=1))
    def test_text(self, circuit: Circuit) -> None:
        """As a Python program with one line per gate."""
        names = [f"r{row}" for row in range(circuit.rows + 1)]
        text = Text("FULL ^ FULL", "FULL")
        (ops, a, b) = circuit.lists
        values = dict(zip(names, map(as_integer, CASES), strict=False)) | {"FULL": FULL}
        for row, op, x, y in zip(names[9:], ops, a, b, strict=False):
            values[row] = eval(text.gate(op, names[x], names[y]), {}, values) & FULL
        found = [values[name] for name in names[:-1]]
        assert found == [*map(as_integer, looked_up(circuit, CASES))]


class TestPart:
    @given(circuits(channels=1), st.integers(0, 2**16))
    def test_rows_limit_the_work(self, circuit: Circuit, which: int) -> None:
        row = which % circuit.rows
        rows = evaluate(circuit, CASES, BitLogic(np.ones(2**9, bool)), circuit.cone(row))
        assert (rows[row] == looked_up(circuit, CASES)[row]).all()


@given(circuits(), st.sampled_from(["zero", "periodic"]), st.integers(0, 2**32))
def test_steps_of_planes(circuit: Circuit, boundary: str, seed: int) -> None:
    """A fast loop over integers, against the evaluator."""
    board = Board(3, 5, boundary)  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    state = tuple(board.pack(bits) for bits in rng.integers(0, 2, (2, 3, 5)))
    seen = [board.seen(plane, n) for n in range(9) for plane in state]
    rows = evaluate(circuit, seen, BitLogic(board.full))
    outputs = circuit.outputs.tolist()
    assert Network(circuit).step(board, state) == tuple(rows[row] for row in outputs)
