import dataclasses
import json
import os
import stat
import struct
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import difflogic
from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.system.archive import write_npz
from difflogic.system.errors import ConfigError, ModelFileError, RunDirectoryError

SHARED = ["perception.directions=same"]
CONFIG = load_config(
    "checkerboard-small", [*SHARED, "update.carry=0", "training.initial_logit=7.5"]
)
TINY = load_config(
    "checkerboard", ["automaton.channels=1", "perception.kernels=1", "update.gates=[2, 1]"]
)
DISTINCT = load_config("checkerboard-small", ["perception.directions=random"])
PATTERN = load_config("lizard", ["task.height=22"])


def trained(config=CONFIG, dtype=np.float32):
    model = Model.create(config)
    logits = np.random.default_rng(5).normal(size=model.logits.shape).astype(dtype)
    return dataclasses.replace(model, logits=logits)


@pytest.fixture
def saved(tmp_path):
    """A model file, and its arrays to change."""
    path = tmp_path / "model.npz"
    trained().save(path)
    with np.load(path) as file:
        return path, dict(file)


def rewrite(path, arrays):
    with path.open("wb") as file:
        write_npz(file, arrays)


def change_header(arrays, **changes):
    header = json.loads(bytes(arrays["header"])) | changes
    return arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}


def error(path):
    with pytest.raises(ModelFileError) as caught:
        Model.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# A model


def test_an_untrained_model_passes_its_inputs_through():
    model = Model.create(CONFIG)
    expected = np.zeros((1496, 16), np.float32)
    expected[:, 3] = 7.5
    assert_array_equal(model.logits, expected, strict=True)
    assert_array_equal(model.ops, np.full(1496, 3, np.uint8), strict=True)


def test_own_wires_are_kept(tmp_path):
    keys = ["perception.directions=random"]
    other = Model.create(load_config("checkerboard-small", [*keys, "training.seed=9"]))
    update, *perception = (
        [np.stack([layer.a, layer.b], 1) for layer in layers]
        for layers in (other.layers.update, *other.layers.perception)
    )
    model = Model.create(DISTINCT, perception=perception, update=update)
    model.save(tmp_path / "own.npz")
    for found in (model, Model.load(tmp_path / "own.npz")):
        assert_array_equal(found.netlist.a, other.netlist.a)
        assert_array_equal(found.netlist.b, other.netlist.b)
    # A run that starts from it keeps them when it starts over.
    short = ["training.restart_every=1", "training.epochs=2", *keys, "finishing.from_epoch=9"]
    run = difflogic.train("checkerboard-small", short, directory=tmp_path / "run", source=model)
    assert run.summary.attempts.begun == 2
    made = difflogic.load(run.path).require_model()
    assert_array_equal(made.netlist.a, other.netlist.a)


@pytest.mark.parametrize(
    ("logits", "says"),
    [(np.zeros((17, 15), np.float32), r"\(17, 15\)"), (np.zeros((17, 16), np.float16), "float16")],
)
def test_invalid_logits(logits, says):
    model = Model.create(TINY)
    with pytest.raises(ConfigError, match=rf"logits need shape \(17, 16\).*{says}"):
        dataclasses.replace(model, logits=logits)
    with pytest.raises(ConfigError, match="not those of the configuration"):
        dataclasses.replace(model, config=CONFIG)


# Its file


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("config", [CONFIG, TINY, DISTINCT, PATTERN])
def test_round_trip(tmp_path, config, dtype):
    model = trained(config, dtype)
    model.save(tmp_path / "model.npz")
    loaded = Model.load(str(tmp_path / "model.npz"))
    assert loaded.config == config
    assert loaded.logits.dtype == dtype
    assert loaded.logits.flags.writeable
    assert_array_equal(loaded.logits, model.logits)
    for field in ("a", "b", "param", "outputs"):
        assert_array_equal(getattr(loaded.netlist, field), getattr(model.netlist, field))


def test_equal_models_give_equal_bytes(tmp_path, monkeypatch):
    trained().save(tmp_path / "first")
    monkeypatch.setattr("time.time", lambda: 2e9)
    monkeypatch.setattr("sys.platform", "win32")
    Model.load(tmp_path / "first").save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_numpy_alone_can_read_it(saved):
    _, arrays = saved
    wires = [layer.a for layer in trained().layers.update]
    assert_array_equal(arrays["update_a"], np.concatenate(wires))
    header = json.loads(bytes(arrays["header"]))
    assert (header["format"], header["version"]) == ("dct-model", 2)
    expected = CONFIG.to_dict()
    del expected["checkpoint"], expected["parallel"]
    assert header["config"] == expected


def test_infinite_logits_are_not_saved(tmp_path):
    model = trained()
    model.logits[3, 4] = np.nan
    with pytest.raises(ModelFileError, match="not saved: a logit is NaN or infinite"):
        model.save(tmp_path / "model.npz")
    assert os.listdir(tmp_path) == []


# Other files


def test_other_archives(tmp_path):
    path = tmp_path / "model.npz"
    with path.open("wb") as file:
        file.truncate(2**28 + 1)
    assert "larger than any model" in error(path)
    np.savez(path, weights=np.zeros(3))
    assert "holds arrays, but no model saved by dct" in error(path)
    for header in (b"[]", b"not json", b"[" * 100_000, b'{"format": "other"}'):
        np.savez(path, header=np.frombuffer(header, np.uint8))
        assert "holds arrays, but no model saved by dct" in error(path)


HUGE = CONFIG.to_dict() | {"perception": CONFIG.to_dict()["perception"] | {"kernels": 65536}}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": 3}, "has format version 3, but this program reads 2: use the dct"),
        ({"config": None}, "contains no configuration"),
        ({"config": CONFIG.to_dict() | {"name": 3}}, "name must be 1 to 64 letters"),
        ({"config": TINY.to_dict()}, "bytes where at most 2176 are expected"),
        ({"config": HUGE}, "gates per cell are more than"),
    ],
)
def test_invalid_headers(saved, changes, says):
    path, arrays = saved
    rewrite(path, change_header(arrays, **changes))
    assert says in error(path)


def with_entry(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("update_b", None, 'entry "update_b" is missing'),
        ("logits", lambda array: array.reshape(16, -1), 'entry "logits" must have shape'),
        ("perception_b", lambda array: with_entry(array, 0, -1), "the wiring is damaged: "),
        ("update_a", lambda array: with_entry(array, 0, 264), "the wiring is damaged: "),
        ("logits", lambda array: with_entry(array, -1, np.nan), "a logit is NaN or infinite"),
    ],
)
def test_invalid_entries(saved, name, change, says):
    path, arrays = saved
    array = arrays.pop(name)
    rewrite(path, arrays if change is None else arrays | {name: change(array)})
    assert says in error(path)


# Hostile files


class Explosive:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_not_loaded(saved):
    path, arrays = saved
    for name in ("logits", "header"):
        bomb = np.array([Explosive()] * 10, dtype=object)
        np.savez(path, **(arrays | {name: bomb}))
        assert f'entry "{name}"' in error(path)


def zip_with(path, arrays, name, content, **kwargs):
    rewrite(path, {key: value for key, value in arrays.items() if key != name})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"{name}.npy", content, **kwargs)


def preamble(shape, dtype="'<f4'"):
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize("name", ["logits", "header"])
def test_zip_bombs_are_not_read(saved, name):
    path, arrays = saved
    bomb = preamble((5_000_000,)) + bytes(20_000_000)
    zip_with(path, arrays, name, bomb, compress_type=zipfile.ZIP_DEFLATED)
    assert f'entry "{name}" unpacks to 20000128 bytes' in error(path)


def test_entries_longer_than_declared(saved):
    path, arrays = saved
    content = preamble((1496, 16)) + arrays["logits"].tobytes() + bytes(10_000_000)
    zip_with(path, arrays, "logits", content, compress_type=zipfile.ZIP_DEFLATED)
    honest = struct.pack("<I", len(content))
    lie = struct.pack("<I", 128 + 1496 * 64)
    path.write_bytes(path.read_bytes().replace(honest, lie))
    assert 'entry "logits" is damaged' in error(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY\x01\x00\xff\xff",
        preamble("(" * 3000),
        preamble((1496, 16), dtype="'|O'"),
        preamble((10**12, 16)),
        preamble((1496, 16)) + b"too short",
        preamble((1496, 16)) + bytes(1496 * 64 + 1),
    ],
)
def test_invalid_arrays(saved, content):
    path, arrays = saved
    zip_with(path, arrays, "logits", content)
    assert 'entry "logits"' in error(path)


def test_an_entry_twice_and_unbounded_compression(saved):
    path, arrays = saved
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("logits", b"")
    assert 'entry "logits" is missing or not unique' in error(path)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        zip_with(path, arrays, "logits", bytes(100), compress_type=method)
        assert "uses an unsupported compression" in error(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe")
def test_a_model_replaces_no_pipe_and_no_directory(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, ""):
        with pytest.raises(RunDirectoryError, match=r"regular file|directory"):
            trained().save(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
