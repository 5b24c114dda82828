"""The file of a checkpoint."""

import json
import os

import numpy as np
import pytest

from difflogic.run import checkpoint
from difflogic.run.checkpoint import Checkpoint, CheckpointError, read_checkpoint, write_checkpoint
from difflogic.run.run_directory import RunDirectory
from difflogic.system import archive
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.training.tiny import tiny

CONFIG = tiny().to_dict()
SECONDS = {"forward": 0.5, "processor": 1.25}
STATE = {
    "epoch": np.array(7, np.int64),
    "logits": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "flags": np.array([True, False]),
    "nothing": np.empty((0, 3), np.uint8),
    "not a number": np.array([np.nan, np.inf, -0.0]),
}


def write(directory, epoch, resumed=0):
    found = Checkpoint(epoch=epoch, resumed=resumed, config=CONFIG, state=STATE, seconds=SECONDS)
    return write_checkpoint(RunDirectory(directory), found)


@pytest.fixture
def written(tmp_path):
    return write(tmp_path, 7, 2)


def same(state, other):
    return list(state) == list(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(state.values(), other.values(), strict=True)
    )


def test_arrays_round_trip(written):
    found = read_checkpoint(written, STATE)
    assert same(found.state, STATE)
    assert (found.epoch, found.resumed, found.config, found.seconds) == (7, 2, CONFIG, SECONDS)
    assert set(found.made_with) == {"dct", "numpy", "numba", "rounding"}


def test_the_last_two_are_kept(tmp_path):
    (tmp_path / "checkpoint-notes.npz").write_text("mine")
    for epoch in (0, 9, 10, 100):
        write(tmp_path, epoch)
    assert [path.name for path in RunDirectory(tmp_path).checkpoints] == [
        "checkpoint-100.npz",
        "checkpoint-10.npz",
    ]
    # A run that went back, since the later ones were damaged.
    write(tmp_path, 50)
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint-10.npz",
        "checkpoint-50.npz",
        "checkpoint-notes.npz",
    ]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_earlier_checkpoints(tmp_path, written, monkeypatch, error):
    def fail(*_, **__):
        raise error

    before = written.read_bytes()
    monkeypatch.setattr(archive.zipfile.ZipFile, "open", fail)
    with pytest.raises((RunDirectoryError, KeyboardInterrupt)):
        write(tmp_path, 8, 2)
    assert os.listdir(tmp_path) == [written.name]
    assert written.read_bytes() == before


def test_flipped_bits_do_no_harm(written):
    """The file is refused, unless the bit is redundant or unused in the zip format."""
    content = written.read_bytes()
    refused = 0
    for position in range(0, len(content), 151):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        written.write_bytes(damaged)
        try:
            found = read_checkpoint(written, STATE)
        except RunDirectoryError:
            refused += 1
            continue
        assert same(found.state, STATE)
        assert found.config == CONFIG
    assert refused > len(range(0, len(content), 151)) // 2


def change_header(path, **changes):
    """Rewrite the header only, with a right checksum if the changes give none."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(bytes(arrays["header"])) | changes
    if "sha256" not in changes:
        del header["sha256"]
        header["sha256"] = checkpoint._digest(header, STATE)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        archive.write_npz(file, arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "dct-model"}, "is not a checkpoint of dct"),
        ({"sha256": "0" * 64}, "its checksum is wrong"),
        ({"state": ["epoch"]}, "holds the state of a different trainer"),
        ({"epoch": 6}, "holds epoch 6: it was renamed"),
        ({"epoch": "7"}, "is not a checkpoint of dct"),
        ({"seconds": {"forward": "0.5"}}, "is not a checkpoint of dct"),
    ],
)
def test_foreign_headers(written, changes, message):
    change_header(written, **changes)
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(written, STATE)


@pytest.mark.parametrize(
    "template",
    [
        {name: array for name, array in STATE.items() if name != "flags"},
        STATE | {"logits": np.zeros((4, 3))},
        STATE | {"logits": np.zeros((3, 4), np.float32)},
        STATE | {"more": np.zeros(3)},
    ],
)
def test_another_state_is_refused(written, template):
    with pytest.raises(CheckpointError):
        read_checkpoint(written, template)
