"""Damages files: their bytes, lines, or values of their JSON or archive.

Values are replaced, moved, doubled and dropped; an archive's checksums stay valid.
"""

import copy
import io
import json
import zipfile
from random import Random
from typing import Any

import numpy as np

VALUES: list[Any] = [None, True, False, 0.0, 1.0, 0.5, -0.0, 1e308, 1e-308, [], {}, [0], [[]]]
VALUES += [0, 1, -1, 2, 3, 7, 9, 15, 16, 17, 128, 65535, 65536, 65537, 2**20, 2**31 - 1, 2**31]
VALUES += [2**32, 2**63, 10**30, float("nan"), float("inf"), "", "é", "a" * 99]
VALUES += ["AND", "NAND", "zero", "periodic", "random", "center", "dct-circuit", "dct-model"]
VALUES += [{"op": "AND", "a": 0, "b": 1}, {"op": 1, "wire_a": 0, "wire_b": 0}, {"gates": []}]
"""Values near limits, or valid in other places."""

KINDS = [np.int32, np.float32, np.float64, np.int64, np.uint8, np.bool_]


def damaged(form: str, content: bytes, random: Random) -> bytes:
    """Return a file of a form (json, archive, lines or bytes) with some damage."""
    if random.random() < 0.3 or form == "bytes":
        return _of_bytes(content, random)
    return {"json": _of_json, "archive": _of_archive, "lines": _of_lines}[form](content, random)


def _of_bytes(content: bytes, random: Random) -> bytes:
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


def _of_lines(content: bytes, random: Random) -> bytes:
    lines = content.decode().splitlines()
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(len(lines)) if lines else 0
        match random.randrange(5):
            case 0:
                del lines[place : place + 1]
            case 1:
                lines[place:place] = lines[place : place + 1] * random.choice([1, 2, 99])
            case 2 if lines:
                key, equals, _ = lines[place].partition("=" if "=" in lines[place] else ",")
                lines[place] = f"{key}{equals}{random.choice(VALUES)!r}"
            case 3:
                lines.insert(place, ".".join("a" * random.choice([1, 9, 300])) + " = 1")
            case _:
                lines.insert(place, "[" * random.choice([1, 2, 99]) + "x]")
    return "\n".join(lines).encode()


def _of_json(content: bytes, random: Random) -> bytes:
    data = [json.loads(content)]
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        places = [(data, key) for key in range(len(data))]
        for at, key in places:  # which grows: outer places come first
            inner = at[key]
            if isinstance(inner, dict | list):
                keys = inner if isinstance(inner, dict) else range(len(inner))
                places += [(inner, key) for key in keys]
        if places:
            near = places[: 1 + len(places) // 10]
            _change(*random.choice(near if random.random() < 0.2 else places), random)
    text = json.dumps(data[0] if data else None)
    if random.random() < 0.02:  # a key twice
        text = text.replace('"b"', '"a"', 1).replace('"wire_b"', '"wire_a"', 1)
    return text.encode()


def _change(at: Any, key: Any, random: Random) -> None:
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


def _of_archive(content: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    place = random.randrange(len(entries))
    name, data = entries[place]
    array = np.load(io.BytesIO(data))
    match random.randrange(10):
        case 0:
            del entries[place]
        case 1:
            entries.append((name, data))
        case 2:
            entries[place] = (random.choice(["header.npy", "logits.npy", "step.npy", "x"]), data)
        case 3:
            entries[place] = (name, _of_bytes(data, random))
        case _ if name == "header.npy":
            text = _of_json(array.tobytes(), random)
            entries[place] = (name, _saved(np.frombuffer(text, np.uint8)))
        case _:
            entries[place] = (name, _saved(_of_array(array, random)))
    file = io.BytesIO()
    method = random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def _of_array(array: np.ndarray, random: Random) -> np.ndarray:
    values = [-5, -1, 0, 1, 8, 9, 2**31 - 1, 2**63 - 1, np.nan, np.inf, -np.inf, 1e38]
    match random.randrange(5):
        case 0:
            return array.astype(random.choice(KINDS))
        case 1:
            return np.atleast_1d(array)[: random.randrange(array.size + 1)]
        case 2:
            return array.reshape(*random.choice([(1, -1), (-1, 1), (-1,)]))
        case 3:
            return np.zeros(random.choice([2**16, 2**20]), array.dtype)
        case _:
            changed = array.copy()
            value = np.array(random.choice(values))
            changed.flat[random.randrange(array.size)] = value.astype(array.dtype)
            return changed


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()
