"""`dct simplify` and `dct verify circuit`: exit codes, output and files."""

from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats.circuit_file import write_circuit
from difflogic.library.loaded import load
from difflogic.proof import equivalence
from difflogic.simplification import EFFORTS, EffortLimits, nets
from tests.difflogic.circuit.circuits import automaton_of, circuit_of, same_next_states


def save(circuit, path, visible=(0,)):
    path.write_text(write_circuit(automaton_of(circuit, visible)))
    return str(path)


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """Shorten all searches."""
    monkeypatch.setitem(EFFORTS, "normal", EffortLimits(2, (4,), 1, 9, 5, 1))


@pytest.fixture
def clumsy(tmp_path):
    """A multiplexer of eight gates, and an unread channel."""
    gates = [
        (Op.NOT_A, 0, 0),
        (Op.AND, 18, 2),
        (Op.AND, 0, 4),
        (Op.OR, 19, 20),
        (Op.A, 21, 0),
        (Op.XOR, 22, 6),
        (Op.XOR, 23, 6),
        (Op.NAND, 1, 3),
    ]
    return save(circuit_of(gates, [24, 25]), tmp_path / "clumsy.json")


@pytest.fixture
def wrong_rule(monkeypatch):
    """Make the search return circuits whose first gate is inverted."""
    right = nets.to_circuit

    def wrong(net, labels):
        found = right(net, labels)
        op = np.concatenate([15 - found.op[:1], found.op[1:]])
        return Circuit(op, found.a, found.b, found.outputs, found.labels)

    monkeypatch.setattr(nets, "to_circuit", wrong)


def test_shows_stages_and_proof_and_saves(dct, clumsy):
    Path("small.json").write_text("mine")
    result = dct(f"simplify {clumsy} -o small.json --force").good
    lines = result.stdout.splitlines()
    head = "stage gates active depth channels"
    assert lines[0].split() == head.split()
    assert lines[1].split()[2:] == ["8", "7", "6", "2"]
    last = next(line for line in lines if line.startswith("newly unread channels dropped"))
    assert last.split()[-4:] == ["3", "3", "2", "1"]
    assert any(line.startswith("proved equal: 1 next state") for line in lines)
    assert "saved small.json" in result.stderr
    found = dct(f"simplify {clumsy} --json --effort low").json
    assert (found["stages"][0]["gates"], found["stages"][-1]["gates"]) == (8, 3)
    assert found["proof"] | {"verdict": "proved", "dropped": [1]} == found["proof"]
    small = load(Path("small.json")).automaton
    before = load(Path(clumsy)).automaton
    assert small.circuit.gates == 3
    assert same_next_states(before.circuit, small.circuit)
    assert small.visible == before.visible


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-o last", "last: means the newest run: name a file"),
        ("--effort most", "most"),
        ("-o kept.json", "kept.json: exists already"),
    ],
)
def test_refusals(dct, clumsy, options, message):
    Path("kept.json").write_text("mine")
    assert message in dct(f"simplify {clumsy} {options}").refusal
    assert Path("kept.json").read_text() == "mine"


def test_a_wrong_rule_is_caught_and_nothing_written(dct, clumsy, wrong_rule):
    result = dct(f"simplify {clumsy} -o small.json").failed
    assert "NOT EQUAL" in result.stdout
    assert "the next state of channel 0 is" in result.stdout
    assert "small.json was not written" in result.stderr
    assert not Path("small.json").exists()
    found = dct(f"simplify {clumsy} --json -o small.json").failed
    assert found.json["output"] is None
    assert dct(f"verify circuit {clumsy}").failed


def test_out_of_time(dct, clumsy, monkeypatch):
    # Time that passes before the first output is compared.
    clock = iter(range(0, 10**6, 100))
    monkeypatch.setattr(equivalence.time, "monotonic", lambda: next(clock))
    result = dct(f"simplify {clumsy} -o small.json --time-limit 50").failed
    assert "UNKNOWN: 1 of 1 next state undecided" in result.stdout
    assert not Path("small.json").exists()


def test_two_files_are_verified(dct, tmp_path):
    one = save(circuit_of([(Op.XOR, 0, 1)], [18, 0], (0, 4)), tmp_path / "one.json")
    same = save(
        circuit_of([(Op.XNOR, 1, 0), (Op.NOT_A, 18, 0)], [1, 19], (4, 0)), tmp_path / "same.json"
    )
    other = save(circuit_of([(Op.OR, 0, 1)], [18, 0], (0, 4)), tmp_path / "other.json")
    assert dct(f"verify circuit {one} --against {same}").good
    result = dct(f"verify circuit {one} --against {other}").failed
    assert result.stdout.endswith(
        f"if NW0, NW4 are 1,\nthe next state of channel 0 is\n  0  in {one}\n  1  in {other}\n"
    )
    found = dct(f"verify circuit {one} --against {other} --json").failed
    assert found.json["equal"] is False
    assert found.json["proof"]["counterexample"] == {
        "channel": 0,
        "before": 0,
        "after": 1,
        "inputs": {"NW0": 1, "NW4": 1},
    }


def test_another_visible_channel_is_another_automaton(dct, tmp_path):
    one = save(circuit_of([], [0, 1]), tmp_path / "one.json")
    other = save(circuit_of([], [0, 1]), tmp_path / "other.json", (1,))
    result = dct(f"verify circuit {one} --against {other}").failed
    assert "NOT EQUAL, but proved the same rule: 2 next states" in result.stdout
    assert "differs in: visible channels [0] and [1]" in result.stdout
    result = dct(f"verify circuit {one} --against {other} --rule-only --json")
    assert (result.exit_code, result.json["equal"], result.json["same_rule"]) == (0, False, True)
