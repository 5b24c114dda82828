from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from difflogic.simulation import native
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.life import life_automaton
from difflogic.simulation.simulator import Conditions, Simulator
from tests.difflogic.formats.made import random_circuit


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "dct-simulation"


def digest(circuit):
    geometry = Geometry(circuit.channels, 20, 100, "periodic")
    with Simulator(circuit, Conditions(geometry)) as simulator:
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


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "directory"])
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
        whole = {"empty": b"", "cut": content[:-1], "foreign": b"x" * 5000}[damage]
        path.write_bytes(whole)
    assert not native.is_cached(circuit)
    assert digest(circuit) == expected
    assert native.is_cached(circuit) == (damage != "directory")


def test_another_circuits_entry_is_not_taken(directory):
    circuit, other = life_automaton().circuit, life_automaton("B36/S23").circuit
    expected = digest(circuit)
    path = native.cache_path(circuit, native.vector_words())
    native.native(other)
    native.cache_path(other, native.vector_words()).replace(path)
    assert not native.is_cached(circuit)
    assert digest(circuit) == expected


def test_names_depend_on_every_module_that_makes_code():
    """Those of this package that building code imports, from one to the next."""
    folder = Path(native.__file__).parent
    found, waiting = {"native.py"}, ["emission.py"]
    while waiting:
        name = waiting.pop()
        found.add(name)
        imported = re.findall(
            r"^from difflogic\.simulation\.(\w+) import", (folder / name).read_text(), re.MULTILINE
        )
        waiting += {f"{module}.py" for module in imported} - found
    assert sorted(found) == sorted(native._SOURCES)


def test_a_place_that_cannot_be_written_to_is_no_failure(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert digest(life_automaton().circuit)


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "somewhere")
    assert native.cache_directory() == Path("somewhere", "dct-simulation")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native.cache_directory() == tmp_path / "dct"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert native.cache_directory() == Path.home() / ".cache" / "dct"


def test_names_depend_on_all_that_code_depends_on(monkeypatch):
    rng = np.random.default_rng(1)
    paths = [native.cache_path(random_circuit(2, 9, rng), words) for words in (4, 8) for _ in "ab"]
    circuit = random_circuit(2, 9, rng)
    paths.append(native.cache_path(circuit, 8))
    monkeypatch.setattr(native, "_features", lambda: "+another")
    paths.append(native.cache_path(circuit, 8))
    assert len(set(paths)) == 6


def test_another_process_finds_it(directory):
    program = (
        "import sys\n"
        "from difflogic.simulation import native\n"
        "from difflogic.simulation.life import life_automaton\n"
        "native.native(life_automaton().circuit)\n"
        "print('difflogic.simulation.emission' in sys.modules, 'numba' in sys.modules)\n"
    )
    root = Path(__file__).parents[3]
    found = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=root, env=os.environ | {"PYTHONPATH": str(root)},
            capture_output=True, text=True, check=True,
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    # What builds code is only imported to compile it.
    assert found == [["True", "False"], ["False", "False"]]
