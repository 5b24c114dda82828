"""`dct import`: output, files, and bad input."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from difflogic.formats import circuit_file, importing
from difflogic.formats.circuit_file import write_circuit
from difflogic.formats.logicars import write_logicars
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import assert_same, life, random_circuit

MADE = automaton(random_circuit(2, 12, np.random.default_rng(1), (5, 2)))
OWN = write_circuit(MADE)
FOREIGN = write_logicars(automaton(life(channels=2)))


@pytest.fixture(autouse=True)
def files(dct):
    """A circuit file of dct and one of logicars, in the test's directory."""
    Path("own.json").write_text(OWN)
    Path("rust.json").write_text(FOREIGN)


def leftovers():
    return set(os.listdir()) - {"own.json", "rust.json"}


class TestSuccess:
    def test_to_stdout(self, dct):
        result = dct("import", "own.json")
        assert result.exit_code == 0
        assert result.stdout == OWN
        assert result.stderr == (
            f"read from dct: 12 gates, depth {MADE.circuit.depth}, 2 channels\n"
        )

    def test_to_a_file(self, dct):
        result = dct("import", "rust.json", "-o", "out.json", "--visible", "1")
        assert (result.exit_code, result.stdout) == (0, "")
        assert "read from logicars: " in result.stderr
        assert (
            "assumed, as the file does not say: name rust, boundary zero, height 16, width 16, "
            "steps 20, fire_rate 1.0, start random, channels 0-1\n"
        ) in result.stderr
        found = circuit_file.read_circuit(Path("out.json"))
        assert_same(found, importing.read(Path("rust.json"), visible=(1,)).automaton)

    def test_an_earlier_file_stays_unless_forced(self, dct):
        Path("out.json").write_text("precious")
        refusal = dct("import", "own.json", "-o", "out.json").refusal
        assert "out.json: exists already: give --force to overwrite it" in refusal
        assert Path("out.json").read_text() == "precious"
        for name in ("out.json", "own.json"):  # a file can replace itself
            assert dct("import", "own.json", "-o", name, "--force").exit_code == 0
            assert Path(name).read_text() == OWN


def own(**changes):
    return json.dumps(json.loads(OWN) | changes)


def gate(**changes):
    data = json.loads(OWN)
    data["gates"][3] |= changes
    return json.dumps(data)


def foreign(**changes):
    return json.dumps(json.loads(FOREIGN) | changes)


BAD = {
    "empty": ("", "is empty"),
    "truncated": (OWN[:-20], "ends too early, it is cut off: use another"),
    "foreign": ('{"a": 1}', "is JSON, but not a circuit saved by dct"),
    "newer": (own(version=9), "has format version 9, but this program reads up to 1: install"),
    "own row": (gate(a=21), "gate 3 reads row 21, its own, which is a cycle"),
    "op": (gate(op="NADN"), 'gate 3: "op" cannot be "NADN": did you mean "NAND"?'),
    "key": (own(heigth=3), 'there is no key "heigth" here: did you mean "height"?'),
    "grid of nothing": (own(height=0), '"height" must be at least 1, not 0'),
    "huge grid": (own(width=10**9), '"width" must be at most 65536'),
    "deep": ("[" * 99999, "is nested too deeply"),
    "logicars channels": (foreign(channels=3), 'perception: "channels" must be 3'),
}


class TestBadInput:
    @pytest.mark.parametrize("name", BAD)
    def test_files(self, dct, name):
        text, says = BAD[name]
        Path("bad.json").write_text(text)
        refusal = dct("import", "bad.json", "-o", "out.json").refusal
        assert refusal.startswith("error: bad.json: ")
        assert says in refusal
        assert len(refusal.splitlines()) == 1
        assert leftovers() == {"bad.json"}

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["none.json"], "error: none.json: cannot be read: no such file or directory"),
            (["x" * 300], "cannot be read: file name too long"),
            (["."], "not circuit JSON: other commands read it directly"),
            (
                ["own.json", "--visible", "0"],
                "visible channel 0 is not one of the circuit's 2 channels",
            ),
            (["own.json", "-o", "no/where.json"], "create the directory first, or write elsewhere"),
            (["own.json", "-o", "."], "is a directory: name a file"),
        ],
    )
    def test_arguments(self, dct, arguments, says):
        assert says in dct("import", *arguments).refusal
        assert leftovers() == set()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
    def test_a_pipe(self, dct):
        os.mkfifo("pipe")
        assert "not a regular file: copy its output to one first" in dct("import", "pipe").refusal
