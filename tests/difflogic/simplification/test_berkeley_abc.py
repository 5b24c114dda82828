from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.simplification import berkeley_abc
from difflogic.simplification.berkeley_abc import _from_blif, _to_blif
from difflogic.system.errors import CircuitError, ConfigError
from tests.difflogic.circuit.circuits import circuit_of, circuits, same_next_states

CIRCUIT = circuit_of([(Op.AND, 0, 1), (Op.XOR, 9, 2), (Op.TRUE, 0, 0)], [10])


def installed() -> bool:
    try:
        berkeley_abc.find_abc()
    except ConfigError:
        return False
    return True


def pretend(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Install a shell script as ABC."""
    program = directory / "abc"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(directory) + os.pathsep + "/bin")
    monkeypatch.setattr(berkeley_abc, "ABC_NAMES", ("abc",))


@given(circuits())
def test_blif_there_and_back(circuit: Circuit) -> None:
    text = _to_blif(circuit)
    assert same_next_states(circuit, _from_blif(text, circuit))


@pytest.mark.parametrize("names", ["a b c z", "q z", "z a z"])
def test_gates_that_do_not_fit(names: str) -> None:
    text = f".model x\n.inputs a b c d e f g h i\n.outputs z\n.names {names}\n1 1\n.end\n"
    with pytest.raises(CircuitError, match="does not fit"):
        _from_blif(text, CIRCUIT)


def test_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"ABC is not installed .* leave out --compare"):
        berkeley_abc.simplify_with_abc(CIRCUIT)


def test_failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(tmp_path, monkeypatch, "echo cannot read it; exit 1\n")
    with pytest.raises(CircuitError, match="failed: cannot read it"):
        berkeley_abc.simplify_with_abc(CIRCUIT)


def test_too_slow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(tmp_path, monkeypatch, "exec sleep 5\n")
    monkeypatch.setattr(berkeley_abc, "PATIENCE", 0.1 - berkeley_abc.SECONDS)
    with pytest.raises(CircuitError, match="timed out"):
        berkeley_abc.simplify_with_abc(CIRCUIT)


def test_its_result_is_folded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(tmp_path, monkeypatch, "cp before.blif after.blif\n")
    found = berkeley_abc.simplify_with_abc(CIRCUIT)
    assert found.op_counts() == {Op.AND: 1, Op.XOR: 1}
    assert same_next_states(CIRCUIT, found)


@pytest.mark.thorough
@pytest.mark.skipif(not installed(), reason="ABC is not installed")
@settings(max_examples=1, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(circuits(fewest=8))
def test_abc_itself(monkeypatch: pytest.MonkeyPatch, circuit: Circuit) -> None:
    monkeypatch.setattr(berkeley_abc, "_SCRIPT", berkeley_abc._SCRIPT.replace("-T 10", "-T 1"))
    found = berkeley_abc.simplify_with_abc(circuit)
    assert same_next_states(circuit, found)
    assert found.gates <= circuit.gates
