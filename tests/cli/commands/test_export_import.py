"""From `dct export` to `dct import` and back, and refused exports."""

import os
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.formats.circuit_file import write_circuit
from difflogic.formats.logicars import write_logicars
from difflogic.library import loading
from difflogic.model.model import Model
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import life, words

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


@pytest.mark.parametrize("options", [[], ["--unsimplified"]])
def test_a_model_by_way_of_logicars(dct, tiny, options):
    model = Model.create(load_config("checkerboard-small", tiny))
    # As after training: most gates hand on an input, and some do more.
    rng = np.random.default_rng(0)
    some = rng.integers(0, len(model.logits), 12)
    model.logits[some, rng.integers(0, 16, 12)] = 99
    model.save("model.npz")
    assert dct("export", "model.npz", "-o", "x.logicars.json", *options).exit_code == 0
    made = loading.load("model.npz").automaton
    assert dct("import", "x.logicars.json", "-o", "back.json").exit_code == 0
    back = loading.load("back.json").automaton
    assert dct("export", "model.npz", "-o", "kept.json", *options).exit_code == 0
    kept = loading.load("kept.json").automaton
    inputs = words(kept.circuit.inputs, np.random.default_rng(1))
    np.testing.assert_array_equal(back.circuit.next_state(inputs), kept.circuit.next_state(inputs))
    if options:
        np.testing.assert_array_equal(
            back.circuit.next_state(inputs), made.circuit.next_state(inputs)
        )
        # A model is simplified; a circuit's file is not.
        assert dct("export", "back.json", "-o", "again.json").exit_code == 0
        assert loading.load("again.json").automaton.circuit.gates == back.circuit.gates
    else:
        assert back.circuit.gates < made.circuit.gates


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
