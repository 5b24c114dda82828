import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from difflogic.simulation import native
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import Simulator, World
from difflogic.system import programs
from difflogic.system.errors import TrainingError
from difflogic.system.work import Stopped, working
from tests.difflogic.circuit.rules import life_automaton
from tests.difflogic.formats.made import random_circuit


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "dct-simulation"


def digest(circuit):
    geometry = Geometry(circuit.channels, 20, 100, "periodic")
    with Simulator(circuit, World(geometry)) as simulator:
        simulator.randomize()
        simulator.run(10)
        return simulator.grid.digest(range(circuit.channels))


def forbid_compiling(monkeypatch):
    def compile_code(circuit, words):
        raise AssertionError("compiled again")

    monkeypatch.setattr(native, "compile_code", compile_code)


def test_a_circuit_is_compiled_once(directory, monkeypatch):
    circuit = life_automaton().circuit
    assert not native.is_cached(circuit)
    expected = digest(circuit)
    assert native.is_cached(circuit)
    assert len(list(directory.iterdir())) == 1
    forbid_compiling(monkeypatch)
    assert digest(life_automaton().circuit) == expected
    with pytest.raises(AssertionError):
        digest(random_circuit(1, 9, np.random.default_rng(0)))


@pytest.mark.once
@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "directory"])
def test_a_damaged_entry_is_compiled_again(directory, damage):
    circuit = life_automaton().circuit
    expected = digest(circuit)
    (path,) = directory.iterdir()
    content = bytearray(path.read_bytes())
    if damage == "directory":
        path.unlink()
        path.mkdir()
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    else:
        path.write_bytes(b"" if damage == "empty" else content[:-1])
    assert not native.is_cached(circuit)
    assert digest(circuit) == expected
    assert native.is_cached(circuit) == (damage != "directory")


def test_cached_code_depends_on_every_module_that_makes_code():
    """Follow the imports within this package, and add the module that defines ops."""
    folder = Path(native.__file__).parent
    found = {"../circuit/evaluate.py"}
    waiting = ["emission.py", "native.py"]
    while waiting:
        name = waiting.pop()
        found.add(name)
        imported = re.findall(
            r"^from difflogic\.simulation\.(\w+) import", (folder / name).read_text(), re.MULTILINE
        )
        waiting += {f"{module}.py" for module in imported} - found
    assert sorted(found) == sorted(native._SOURCES)


@pytest.fixture
def alone(monkeypatch):
    """Compile every circuit in a process of its own."""
    monkeypatch.setattr(native, "HERE_GATES", 0)


@pytest.mark.thorough
def test_another_process_compiles_the_same_and_imports_nothing_from_the_working_directory(
    alone, directory, tmp_path, monkeypatch
):
    for name in ("llvmlite", "numpy", "json", "difflogic"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    # Its text is far longer than a pipe holds, and compiling takes longer than a tick.
    circuit = random_circuit(16, 1000, np.random.default_rng(2))
    monkeypatch.setattr(programs, "POLL", 0.001)
    aside = native.compile_code(circuit, native.vector_words())
    assert not (tmp_path / "ran").exists()
    monkeypatch.setattr(native, "HERE_GATES", 10**6)
    assert native.compile_code(circuit, native.vector_words()) == aside


def test_compiling_can_be_stopped(alone, directory):
    with working(asked=lambda: True), pytest.raises(Stopped):
        native.native(life_automaton().circuit)
    assert not native.is_cached(life_automaton().circuit)


@pytest.mark.skipif(os.name != "posix", reason="runs /bin/false")
def test_a_failing_compiler_is_reported(alone, directory, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(TrainingError, match="the compiler failed"):
        native.native(life_automaton().circuit)
