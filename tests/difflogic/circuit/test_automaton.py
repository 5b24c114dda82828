from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from difflogic.circuit.automaton import live_channels
from difflogic.circuit.circuit import Circuit
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton_of, circuit_of, circuits, reached_in_time


@given(circuits(channels=4, most=12))
def test_live_channels_agree_with_following_wires(circuit: Circuit) -> None:
    read = {row % 4 for row in reached_in_time(circuit, (2,)) if row < circuit.inputs}
    assert set(np.flatnonzero(live_channels(circuit, (2,))).tolist()) == {2, *read}


def test_live_channels_are_labels() -> None:
    circuit = circuit_of([], [0, 1], labels=(5, 3))
    assert live_channels(circuit, (3,)).tolist() == [False, True]


@pytest.mark.parametrize("visible", [(), (1,)])
def test_visible_channels_must_exist(visible: tuple[int, ...]) -> None:
    with pytest.raises(CircuitError, match="visible channel"):
        automaton_of(circuit_of([], [0]), visible)


@pytest.mark.parametrize("visible", [(3,), [3], range(3, 4), np.array([3])])
def test_visible_channels_are_kept_as_plain_numbers(visible: Sequence[int]) -> None:
    made = automaton_of(circuit_of([], [0, 1], (5, 3)), visible)
    assert made.visible_rows == (1,)
    assert repr(made.visible) == "(3,)"
