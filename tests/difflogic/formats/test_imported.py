"""Importing: values from the file, values from the caller, and defaults."""

import pytest

from difflogic.formats import imported
from difflogic.formats.circuit_file import write_circuit
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats import naive_logicars
from tests.difflogic.formats.made import life

MADE = automaton(life(channels=2), visible=(1,))


@pytest.fixture
def logicars(tmp_path):
    path = tmp_path / "my best.circuit.json"
    path.write_text(naive_logicars.text_of(2))
    return path


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(write_circuit(MADE))
    return path


def test_channels_can_be_numbered(logicars, tmp_path):
    found = imported.read(logicars, (7, 3), (3,))
    assert (found.automaton.circuit.labels, found.automaton.visible) == ((7, 3), (3,))
    assert imported.read(logicars, (7, 3)).automaton.visible == (7,)
    own = tmp_path / "own.json"
    own.write_text(write_circuit(found.automaton))
    # Our own file has visible channels, which keep their places.
    again = imported.read(own, (0, 4))
    assert (again.automaton.circuit.labels, again.automaton.visible) == ((0, 4), (4,))
    with pytest.raises(CircuitError, match="2 channels need 2 numbers, not 1"):
        imported.read(logicars, (0,))


@pytest.mark.parametrize(
    ("visible", "says"),
    [
        ((2,), "visible channel 2 is not one of the circuit's 2 channels"),
        ((1, 1), "visible channel 1 occurs 2 times"),
    ],
)
def test_impossible_channels_are_refused(logicars, own, visible, says):
    for path in (logicars, own):
        with pytest.raises(CircuitError) as caught:
            imported.read(path, visible=visible)
        assert says in str(caught.value)
