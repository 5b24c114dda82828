"""From `dct export` to `dct import` and back, and refused exports."""

import os
from pathlib import Path

import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats.circuit_file import write_circuit
from difflogic.formats.logicars import write_logicars
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import life

# Simplifying larger ones takes seconds.
EDGES = automaton(Circuit([Op.XOR], [3], [5], [9], (0,)), name="edges")


@pytest.fixture(autouse=True)
def folder(dct):
    """A circuit in the directory of the test."""
    Path("edges.json").write_text(write_circuit(EDGES))


def save(circuit, **changes):
    made = automaton(circuit, name="other", **changes)
    Path("other.json").write_text(write_circuit(made))
    return "other.json"


def test_channel_numbers_are_restored_by_an_option(dct):
    source = save(
        Circuit([Op.XOR], [9], [10], [27, 1, 2], (0, 4, 5)), visible=(0,), boundary="zero"
    )
    exported = dct("export", source, "-o", "x.logicars.json")
    assert (
        "cannot store the channel numbers 0,4-5: give them to dct import as --channels"
        in exported.stderr
    )
    dct("import", "x.logicars.json", "-o", "back.json", "--channels", "0,4-5")
    back = ("verify", "circuit", source, "--against", "back.json")
    assert "differs in: grid 5×7 and 16×16, steps 4 and 20\n" in dct(*back).stdout
    result = dct(*back, "--rule-only")
    assert (result.exit_code, "NOT EQUAL" in result.stdout) == (0, False)


@pytest.mark.parametrize(
    ("circuit", "file", "says"),
    [
        (EDGES.circuit, "a b.rule", "is not a valid rule name for Golly: use only letters"),
        (life(channels=129), "x.logicars.json", "129 channels are more than the 128 that logicars"),
        (write_logicars(EDGES), "x.json", "a circuit of logicars, which dct import converts"),
        (write_circuit(EDGES)[:-9], "x.logicars.json", "error: other.json: "),
        ("", "x.logicars.json", "error: other.json: "),
    ],
)
def test_bad_exports(dct, circuit, file, says):
    if isinstance(circuit, str):
        Path("other.json").write_text(circuit)
    else:
        save(circuit, visible=(0,))
    assert says in dct("export", "other.json", "-o", file, "--unsimplified").refusal
    assert set(os.listdir()) == {"edges.json", "other.json"}
