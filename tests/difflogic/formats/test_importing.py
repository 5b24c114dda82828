"""From a file to an automaton: what the file says, what the caller says, what is assumed."""

from dataclasses import replace

import pytest

from difflogic.formats import importing
from difflogic.formats.write_circuit import write_circuit
from difflogic.formats.write_logicars import write_logicars
from difflogic.system.errors import CircuitError, ConfigError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import assert_same, life

MADE = automaton(life(channels=2), visible=(1,))


@pytest.fixture
def logicars(tmp_path):
    path = tmp_path / "my best.circuit.json"
    path.write_text(write_logicars(MADE))
    return path


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(write_circuit(MADE))
    return path


@pytest.mark.parametrize("format", ["auto", "dct"])
def test_our_own_file_says_all(own, format):
    found = importing.read(own, format)
    assert_same(found.automaton, MADE)
    assert (found.format, found.assumed) == ("dct", {})


GIVEN = {
    "name": "new",
    "boundary": "zero",
    "height": 3,
    "width": 4,
    "steps": 5,
    "fire_rate": 0.5,
    "start": "center",
    "visible": (0, 1),
}


def test_what_is_given_replaces_what_the_file_says(own):
    found = importing.read(own, given=GIVEN)
    assert_same(found.automaton, replace(MADE, **GIVEN))
    assert found.assumed == {}


@pytest.mark.parametrize("format", ["auto", "logicars"])
def test_a_file_of_logicars_says_little(logicars, format):
    found = importing.read(logicars, format)
    assert found.format == "logicars"
    assert found.assumed == {
        "name": "my-best",
        "boundary": "zero",
        "height": 16,
        "width": 16,
        "steps": 20,
        "fire_rate": 1.0,
        "start": "random",
        "visible": (0,),
        "channels": (0, 1),
    }
    for key, value in found.assumed.items():
        of = found.automaton.circuit if key == "channels" else found.automaton
        assert getattr(of, "labels" if key == "channels" else key) == value


def test_channels_can_be_numbered(logicars, tmp_path):
    given = {"channels": (7, 3), "visible": (3,)}
    found = importing.read(logicars, given=given)
    assert found.automaton.circuit.labels == (7, 3)
    assert not {"channels", "visible"} & found.assumed.keys()
    own = tmp_path / "own.json"
    own.write_text(write_circuit(found.automaton))
    # A file of our own has visible channels, which keep their places.
    again = importing.read(own, given={"channels": (0, 4)})
    assert (again.automaton.circuit.labels, again.automaton.visible) == ((0, 4), (4,))
    with pytest.raises(CircuitError, match="2 channels need as many numbers, not 1"):
        importing.read(logicars, given={"channels": (0,)})


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("height", 0, '"height": input should be greater than or equal to 1, not 0'),
        ("fire_rate", float("nan"), '"fire_rate": input should be'),
        ("boundary", "periodical", 'cannot be "periodical": did you mean "periodic"?'),
        ("name", "../../x", '"name": string should match pattern'),
        ("visible", (2,), "visible channel 2 is none of the circuit's 2 channels"),
        ("visible", (1, 1), "visible channel 1 is there 2 times"),
    ],
)
def test_what_no_automaton_can_have(logicars, own, key, value, says):
    for path in (logicars, own):
        with pytest.raises(CircuitError) as caught:
            importing.read(path, given={key: value})
        assert says in str(caught.value)


def test_the_wrong_format(logicars, own):
    with pytest.raises(CircuitError, match="looks like one of logicars, which dct import turns"):
        importing.read(logicars, "dct")
    with pytest.raises(CircuitError, match="is not a logicars circuit"):
        importing.read(own, "logicars")
    with pytest.raises(ConfigError, match='no format "logicar": did you mean "logicars"'):
        importing.read(own, "logicar")


def test_runs_and_models_are_no_circuits(tmp_path):
    (tmp_path / "m").write_bytes(b"PK\x03\x04")
    for path in (tmp_path, tmp_path / "m"):
        with pytest.raises(CircuitError, match="not circuit JSON"):
            importing.read(path)
