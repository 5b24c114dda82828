"""`dct inspect`: output on terminals, in pipes and as JSON, and refusals."""

import re
import signal

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats.circuit_file import write_circuit
from difflogic.proof.satisfiability import Formula
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_like, random_circuit
from tests.difflogic.inspection.test_symmetry import wide


def save(example, path):
    path.write_text(write_circuit(example))
    return str(path)


@pytest.fixture
def life(tmp_path):
    example = automaton(life_like("3", "23"), name="life", height=8, width=8, steps=30)
    return save(example, tmp_path / "life.json")


@pytest.fixture
def pair(tmp_path):
    """Channel 0 copies channel 5, which inverts itself; channel 3 is unread."""
    circuit = Circuit(
        np.array([Op.NOT_A, Op.AND]),
        np.array([14, 0]),
        np.array([0, 1]),
        np.array([14, 28, 27]),
        (0, 3, 5),
    )
    example = automaton(circuit, name="pair", visible=(0,), boundary="zero", height=4, width=9)
    return save(example, tmp_path / "pair.json")


def test_the_text_of_a_small_circuit(dct, pair, trained):
    result = dct(f"inspect {pair}").good
    lines = result.stdout.splitlines()
    assert lines[0] == "trained on 4×9 cells, zero boundary, 4 steps, synchronous"
    assert lines[1] == "as trained: 2 gates, depth 1, 3 channels"
    assert lines[3] == "visible channels: 0; state channels: 5"
    assert lines[4] == ("inputs: 1 of 18 are read; fan-out: 1.5 on average, at most 2 (C5)")
    assert lines[6:9] == ["cells that are read, by channel:", "  0: none", "  5: C"]
    assert lines[-4:] == ["n0' = C5", "n5' = ¬C5", "", "pair: 1 gate, depth 1, 2 channels"]
    assert any(line.startswith("  no: ") and "linear over GF(2)" in line for line in lines)
    assert any(line.startswith("  yes: ") and "affine over GF(2)" in line for line in lines)


def test_the_text_of_life(dct, life):
    lines = dct(f"inspect {life} --unsimplified").stdout.splitlines()
    yes = lines[lines.index("symmetries of the rule, for all channels together:") + 1]
    assert yes.startswith("  yes: rotation by 90°, rotation by 180°, ")
    assert yes.endswith("(proved)")
    assert "outer-totalistic: yes, B3/S23" in lines
    found = dct(f"inspect {life} --unsimplified --json").json
    assert (found["name"], found["rule"]["notation"]) == ("life", "B3/S23")
    assert sum(found["ops"].values()) == found["circuit"]["gates"]


def test_the_text_of_an_unsimplified_circuit(dct, pair):
    text = dct(f"inspect {pair} --unsimplified").stdout
    assert text.endswith("\npair: 2 gates, depth 1, 3 channels\n")
    assert "n3' = NW0 ∧ NW3\n" in text
    last = dct(f"inspect {pair} --unsimplified --json").json["equations"][-1]
    assert last == {"target": "n5'", "channel": 5, "text": "n5' = ¬C5"}


def test_long_circuits_fold(dct, tmp_path):
    rng = np.random.default_rng(0)
    example = automaton(random_circuit(rng, channels=30, gates=90), start="zeros")
    path = save(example, tmp_path / "long.json")
    short = dct(f"inspect {path} --unsimplified").stdout
    left = re.search(r"… and (\d+) more equations: --json has all", short)
    equations = dct(f"inspect {path} --unsimplified --json").json["equations"]
    assert len(equations) == 24 + int(left[1])
    assert "… and 6 more channels: --json has all." in short


def test_an_interrupt_ends_a_proof(dct, tmp_path, monkeypatch):
    path = save(automaton(wide(6, turn=False)), tmp_path / "wide.json")
    asked = iter(range(10**9))
    solve = Formula.solve

    def interrupted(self, *arguments):
        if next(asked) == 2:
            signal.raise_signal(signal.SIGINT)
        return solve(self, *arguments)

    monkeypatch.setattr(Formula, "solve", interrupted)
    result = dct(f"inspect {path} --unsimplified --time-limit 60")
    assert next(asked) in range(3, 5)
    assert result.exit_code == 130
    assert (result.stdout, result.stderr) == ("", "interrupted\n")
