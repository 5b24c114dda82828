"""Damages circuits, models and states, and checks how their readers accept or refuse them.

A file is damaged as text, or by its meaning: values of its JSON are replaced, moved, doubled and
dropped, and so are the entries of a model's archive, with valid checksums.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from difflogic.config import load_config
from difflogic.formats import circuit_file, importing
from difflogic.formats.circuit_file import write_circuit
from difflogic.formats.logicars import write_logicars
from difflogic.library import loading
from difflogic.model.model import Model
from difflogic.simulation import starts
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import MOST_STEPS, Conditions, Simulator
from difflogic.system.errors import DctError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import assert_same, life, random_circuit

MOST_SECONDS = 10.0
MOST_BYTES = 2**30
"""Limits for reading a file, or for a command to end."""

KINDS = ("circuit", "logicars", "model", "state")

STATES = ((1, 3, 5), (2, 4, 70))
"""Channels, rows and columns of the grids of saved states."""

VALUES: list[Any] = [None, True, False, 0.0, 1.0, 0.5, -0.0, 1e308, 1e-308, [], {}, [0], [[]]]
VALUES += [0, 1, -1, 2, 3, 7, 9, 15, 16, 17, 128, 65535, 65536, 65537, 2**20, 2**31 - 1, 2**31]
VALUES += [2**32, 2**63, 10**30, float("nan"), float("inf"), "", "é", "a" * 99]
VALUES += ["AND", "NAND", "zero", "periodic", "random", "center", "dct-circuit", "dct-model"]
VALUES += [{"op": "AND", "a": 0, "b": 1}, {"op": 1, "wire_a": 0, "wire_b": 0}, {"gates": []}]
"""Values near limits, or valid in other places."""


def seeds(kind: str, folder: Path) -> list[bytes]:
    """Return small valid files of a kind; `folder` is for temporary files."""
    rng = np.random.default_rng(1)
    if kind == "model":
        changes = ["automaton.channels=1", "perception.kernels=2", "update.gates=[4, 2, 1]"]
        path = folder / "seed.npz"
        Model.create(load_config("checkerboard", changes)).save(path)
        return [path.read_bytes()]
    if kind == "state":
        return [_saved_state(folder, *size) for size in STATES]
    render = write_circuit if kind == "circuit" else write_logicars
    circuits = [life(), random_circuit(2, 8, rng), random_circuit(3, 40, rng)]
    return [render(automaton(circuit)).encode() for circuit in circuits]


def check(kind: str, content: bytes, folder: Path) -> bool:
    """Read `content` as a file; return whether it was accepted.

    An accepted file must be an automaton that runs and can be saved and read back. A refused one
    must raise a short error that names the file, with one line for each problem.
    """
    path = folder / "fuzzed"
    path.write_bytes(content)
    if kind == "state":
        return any(_is_state(path, *size) for size in STATES)
    try:
        made = (
            importing.read(path).automaton if kind == "logicars" else loading.load(path).automaton
        )
    except DctError as error:
        message = str(error)
        assert str(path) in message or "automaton" in message or "channel" in message, message
        # Each problem of a configuration has its own line.
        assert len(message) < 1000 or "problems in the configuration" in message, message
        assert "\n" not in message or "problems in the configuration" in message, message
        return False
    if made.circuit.rows < 10_000:
        states = made.circuit.next_state(np.zeros((made.circuit.inputs, 1), np.uint64))
        assert states.shape == (made.circuit.channels, 1)
        text = write_circuit(made)
        assert_same(circuit_file.parse(json.loads(text), "x"), made)
    return True


def _simulator(channels: int, height: int, width: int) -> Simulator:
    circuit = random_circuit(channels, 8, np.random.default_rng(2))
    geometry = Geometry(channels, height, width, "periodic")
    return Simulator(circuit, Conditions(geometry), "interpreter")


def _saved_state(folder: Path, channels: int, height: int, width: int) -> bytes:
    simulator = _simulator(channels, height, width)
    simulator.randomize()
    starts.save_state(folder / "seed.npz", simulator)
    return (folder / "seed.npz").read_bytes()


def _is_state(path: Path, *size: int) -> bool:
    """Return whether a file is a state of a grid. It must run, or be refused like all files."""
    simulator = _simulator(*size)
    try:
        starts.load_state(path, simulator)
    except DctError as error:
        message = str(error)
        assert str(path) in message, message
        assert len(message) < 1000, message
        assert "\n" not in message, message
        return False
    if simulator.step < MOST_STEPS:
        simulator.run(1)
    assert simulator.grid.bits().max() <= 1
    return True


def damage(kind: str, content: bytes, random: Random) -> bytes:
    """Return a file with some damage."""
    if random.random() < 0.3:
        return _damage_bytes(content, random)
    try:
        return (
            _damage_archive(content, random)
            if kind in ("model", "state")
            else _damage_json(content, random)
        )
    except Exception:  # it is damaged too much already
        return _damage_bytes(content, random)


def _damage_bytes(content: bytes, random: Random) -> bytes:
    data = bytearray(content)
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.choice([0, 1, 1, 2, 8, 64]))
        match random.randrange(4):
            case 0:
                data[start:end] = random.randbytes(end - start)
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = data[start:end] * random.choice([1, 2, 50])
            case _:
                del data[start:]
    return bytes(data)


def _damage_json(content: bytes, random: Random) -> bytes:
    data = [json.loads(content)]
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        places = list(_places(data))
        near = places[: 1 + len(places) // 10]
        _damage_place(*random.choice(near if random.random() < 0.2 else places), random)
    text = json.dumps(data[0] if data else None)
    if random.random() < 0.02:  # a key twice
        text = text.replace('"b"', '"a"', 1).replace('"wire_b"', '"wire_a"', 1)
    return text.encode()


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all lists and objects with each of their keys, outer ones first."""
    level = [data]
    while level:
        inside = []
        for at in level:
            for key in at if isinstance(at, dict) else range(len(at)):
                yield at, key
                if isinstance(at[key], dict | list):
                    inside.append(at[key])
        level = inside


def _damage_place(at: Any, key: Any, random: Random) -> None:
    """Change one value of a list or an object."""
    value = at[key]
    match random.randrange(8):
        case 0:
            del at[key]
        case 1 if isinstance(at, dict):
            at[random.choice([*at, "more", "", "op", "gates"])] = copy.deepcopy(value)
        case 1:
            at[key:key] = [copy.deepcopy(value) for _ in range(random.choice([1, 2, 100]))]
        case 2 | 3 | 4 if type(value) is int:
            at[key] = value + random.choice([-1, 1, 2, 9, -(2**31), 2**31, 2**32])
        case 2 if isinstance(value, list):
            random.shuffle(value)
        case 3 if isinstance(value, str):
            at[key] = value[:-1] if random.random() < 0.5 else value + random.choice("aZ_- \n\0é")
        case _:
            at[key] = copy.deepcopy(random.choice(VALUES))


def _damage_archive(content: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    place = random.randrange(len(entries))
    name, data = entries[place]
    match random.randrange(10):
        case 0:
            del entries[place]
        case 1:
            entries.append((name, data))
        case 2:
            entries[place] = (random.choice(["header.npy", "logits.npy", "step.npy", "x"]), data)
        case 3:
            entries[place] = (name, _damage_bytes(data, random))
        case _ if name == "header.npy":
            text = _damage_json(_from_array(data).tobytes(), random)
            entries[place] = (name, _as_array(np.frombuffer(text, np.uint8)))
        case _:
            entries[place] = (name, _as_array(_damage_array(_from_array(data), random)))
    file = io.BytesIO()
    method = random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def _damage_array(array: np.ndarray, random: Random) -> np.ndarray:
    values = [-5, -1, 0, 1, 8, 9, 2**31 - 1, 2**63 - 1, np.nan, np.inf, -np.inf, 1e38]
    kinds = [np.int32, np.float32, np.float64, np.int64, np.uint8, np.bool_]
    match random.randrange(5):
        case 0:
            return array.astype(random.choice(kinds))
        case 4:
            return np.zeros(random.choice([2**16, 2**20]), array.dtype)
        case 1:
            return np.atleast_1d(array)[: random.randrange(array.size + 1)]
        case 2:
            return array.reshape(*random.choice([(1, -1), (-1, 1), (-1,)]))
        case _:
            changed = array.copy()
            with np.errstate(all="ignore"):
                changed.flat[random.randrange(array.size)] = np.array(random.choice(values)).astype(
                    array.dtype
                )
            return changed


def _from_array(data: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(data))


def _as_array(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=(1, 0))
    return file.getvalue()
