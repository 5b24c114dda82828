"""`dct import`: output, files, and bad input."""

import os
from pathlib import Path

import numpy as np
import pytest

from difflogic.formats import circuit_file, imported
from difflogic.formats.circuit_file import write_circuit
from difflogic.formats.write_golly import write_golly
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_automaton
from tests.difflogic.formats.made import assert_same, random_circuit

MADE = automaton(random_circuit(2, 12, np.random.default_rng(1), (5, 2)))
OWN = write_circuit(MADE)


@pytest.fixture(autouse=True)
def files(dct):
    """A circuit file of dct in the test's directory."""
    Path("own.json").write_text(OWN)


def test_a_circuit_is_written_to_stdout(dct):
    result = dct("import own.json").good
    assert result.stdout == OWN
    assert result.stderr == (f"read from dct: 12 gates, depth {MADE.circuit.depth}, 2 channels\n")


def test_a_file_can_replace_itself(dct):
    for name in ("out.json", "own.json"):
        assert dct(f"import own.json -o {name} --force").good
        assert Path(name).read_text() == OWN


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (OWN[:-20], "", "error: bad.json: ends too early, it is cut off: use another"),
        (OWN.replace("{", '{"heigth": 3, ', 1), "", 'error: bad.json: there is no key "heigth"'),
        ("PK\x03\x04", "", "bad.json: is a run or a model, not circuit JSON"),
    ],
)
def test_refusals(dct, text, arguments, says):
    Path("bad.json").write_text(text)
    refusal = dct("import bad.json", arguments or "-o out.json").refusal
    assert says in refusal
    assert len(refusal.splitlines()) == 1
    assert set(os.listdir()) == {"own.json", "bad.json"}


TABLE = """@RULE Wire
@TABLE
n_states:4
neighborhood:Moore
symmetries:none
1,0,0,0,0,0,0,0,0,2
"""


def test_rules_of_golly(dct, tmp_path):
    (tmp_path / "Wire.rule").write_text(TABLE)
    (tmp_path / "Life.rule").write_text(write_golly(life_automaton(), "Life"))
    for name in ("Wire", "Life"):
        path = tmp_path / f"{name}.json"
        done = dct("import", str(path.with_suffix(".rule")), f"-o {path}")
        assert (done.exit_code, done.stdout) == (0, "")
        assert "read from Golly: " in done.stderr
        assert (
            "assumed, as the file does not say: boundary periodic, height 16, width 16, steps 20, "
            "fire_rate 1.0, start random\n"
        ) in done.stderr
        assert_same(circuit_file.read_circuit(path), imported.read(path).automaton)
    (tmp_path / "bad.rule").write_bytes(b"\xff\x00@RULE")
    assert "bad.rule: is no rule of Golly" in dct("import bad.rule").refusal
    assert "no such file" in dct("import no.rule").refusal
