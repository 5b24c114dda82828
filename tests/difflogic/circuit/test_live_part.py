"""Folding removes what is superfluous, and leaves other circuits unchanged."""

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.live_part import fold, live_circuit
from tests.difflogic.circuit.circuits import circuit_of

# Channel 0 is visible. Row 2n + c is channel c of neighbour n; gates begin at row 18.
TIGHT = circuit_of([(Op.OR, 1, 17), (Op.A_OR_NOT_B, 5, 18)], [19, 4])
INVERTED = circuit_of([(Op.NOT_A, 1, 1), (Op.AND, 18, 17), (Op.NOT_A, 19, 19)], [20, 4])


@pytest.mark.parametrize("made", [fold, lambda circuit: live_circuit(circuit, (0,))])
def test_nothing_to_fold_changes_nothing(made) -> None:
    found: Circuit = made(TIGHT)
    for name in ("op", "a", "b", "outputs", "labels"):
        np.testing.assert_array_equal(getattr(found, name), getattr(TIGHT, name))


def test_what_folding_knows_of_sets_of_values_stays_known() -> None:
    """X ∨ ¬x is 1, though a gate of an unknown x with itself may show either."""
    assert fold(circuit_of([(Op.A_OR_NOT_B, 1, 1)], [9])).op.tolist() == [Op.TRUE]


def test_superfluous_gates_and_channels_are_removed() -> None:
    assert fold(INVERTED).gates == 1
    assert live_circuit(INVERTED, (0,)).gates == 1
    unread = circuit_of([(Op.OR, 0, 2), (Op.NOT_A, 9, 9)], [18, 19])
    found = live_circuit(unread, (0,))
    assert (found.channels, found.gates) == (1, 1)
