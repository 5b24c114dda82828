"""Counts of a circuit, compared with plain counts, and the whole inspection."""

from collections import Counter

import pytest
from hypothesis import given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.live_part import fold
from difflogic.inspection import inspect
from difflogic.inspection.equations import equations
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton, reached, read_by
from tests.difflogic.circuit.rules import circuits, life_like


@settings(max_examples=25)
@given(circuits(gates=40))
def test_wires(circuit: Circuit) -> None:
    found = inspect(automaton(circuit), 0)
    counts = Counter(circuit.outputs.tolist())
    for gate in range(circuit.gates):
        counts.update(read_by(circuit, gate))
    assert circuit.fan_out.tolist() == [counts[row] for row in range(circuit.rows)]
    needed = reached(circuit, circuit.outputs.tolist())
    for neighbor in range(9):
        for channel in range(circuit.channels):
            row = neighbor * circuit.channels + channel
            assert found.reads[neighbor, channel] == (row in needed)


def test_too_large_circuits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    example = automaton(life_like("3", "23"))
    needed = int(fold(example.circuit).needed([0]).sum())
    for most in (needed, needed - 1):
        monkeypatch.setattr("difflogic.inspection.equations.MOST_ROWS", most)
        if most == needed:
            assert equations(example.circuit).lines
        else:
            with pytest.raises(CircuitError, match=f"{needed} inputs and gates.*simplify it"):
                equations(example.circuit)
            with pytest.raises(CircuitError, match="simplify it first"):
                inspect(example, 20)
