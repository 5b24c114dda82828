"""From `dct export` to `dct import` and back, and refused exports."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.formats.circuit_file import write_circuit
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


def test_our_own_format_there_and_back(dct):
    first = dct("export", "edges.json", "--format", "json", "--unsimplified")
    assert first.stdout == write_circuit(EDGES)
    assert dct("import", "edges.json").stdout == first.stdout


def test_golly(dct):
    result = dct("export", "edges.json", "-o", "Conway.rule")
    assert result.exit_code == 0
    lines = Path("Conway.rule").read_text().splitlines()
    assert lines[0] == "@RULE Conway"
    assert dct("export", "edges.json", "-f", "golly").stdout.startswith("@RULE Edges\n")


def born():
    return Circuit([Op.NOR], [0], [1], [9], (0,))


def ring():
    """Nine channels, each a copy of the next: all are needed."""
    return Circuit([], [], [], [4 * 9 + (each + 1) % 9 for each in range(9)], tuple(range(9)))


class TestBadExports:
    @pytest.mark.parametrize(
        ("circuit", "file", "says"),
        [
            (ring(), "x.rule", "9 channels affect the visible ones, and Golly has states for 8"),
            (born(), "x.rule", "Golly skips empty regions"),
            (EDGES.circuit, "a b.rule", "is not a valid rule name for Golly: use only letters"),
        ],
    )
    def test_golly(self, dct, circuit, file, says):
        source = save(circuit, visible=(0,))
        result = dct("export", source, "-o", file)
        assert result.exit_code == 2
        assert says in result.stderr
        assert (result.stdout, set(os.listdir())) == ("", {"edges.json", "other.json"})

    def test_logicars(self, dct):
        source = save(life(channels=129))
        refusal = dct("export", source, "-o", "x.logicars.json", "--unsimplified").refusal
        assert "129 channels are more than the 128 that logicars has" in refusal
        assert set(os.listdir()) == {"edges.json", "other.json"}

    @pytest.mark.parametrize("content", ["{", "", "[]", write_circuit(EDGES)[:-9]])
    def test_bad_sources(self, dct, content):
        Path("other.json").write_text(content)
        refusal = dct("export", "other.json", "-o", "x.logicars.json").refusal
        assert refusal.startswith("error: other.json: ")
        assert set(os.listdir()) == {"edges.json", "other.json"}

    def test_a_source_of_logicars(self, dct):
        assert dct("export", "edges.json", "-o", "x.logicars.json").exit_code == 0
        refusal = dct("export", "x.logicars.json", "-f", "json").refusal
        assert "it looks like a circuit of logicars, which dct import converts" in refusal


def test_simplifying_may_leave_one_channel_for_golly(dct):
    # Channel 1 does what the one channel of EDGES does, and channel 0 copies it.
    made = automaton(Circuit([Op.XOR], [7], [11], [18, 18], (0, 1)), visible=(1,))
    Path("two.json").write_text(write_circuit(replace(made, name="two")))
    for name, source in (("Two", "two.json"), ("One", "edges.json")):
        assert dct("export", source, "-o", f"{name}.rule").exit_code == 0
    trees = [Path(f"{name}.rule").read_text().split("@TREE")[1] for name in ("Two", "One")]
    assert trees[0] == trees[1]


@pytest.fixture
def model(tiny, tmp_path):
    """A model whose gates all pass on their second input."""
    model = Model.create(load_config("checkerboard-small", tiny))
    model.logits[:] = 0
    model.logits[:, Op.B] = 1
    path = tmp_path / "model.npz"
    model.save(path)
    return str(path)


def test_a_model_is_simplified_and_a_circuits_file_is_not(dct, model):
    whole = loading.load(model).automaton
    assert dct("export", model, "-o", "small.json").exit_code == 0
    assert loading.load("small.json").automaton.circuit.gates == 0
    assert dct("export", model, "-o", "whole.json", "--unsimplified").exit_code == 0
    assert dct("export", "whole.json", "-o", "again.json").exit_code == 0
    assert loading.load("again.json").automaton.circuit.gates == whole.circuit.gates == 70
