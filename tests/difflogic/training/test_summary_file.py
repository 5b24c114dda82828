"""summary.json: what is sealed, what is refused."""

import hashlib
import json

import pytest

from difflogic.training import summary_file
from difflogic.training.metrics import History
from difflogic.training.summary import summarize
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny


@pytest.fixture(scope="module")
def summary():
    trainer = Trainer(tiny("training.epochs=9"))
    return summarize(trainer.config, trainer, History(), resumed=0, processor=0.0)


def test_what_is_written_is_read(summary):
    text = summary_file.render(summary, {"model.npz": "ab"})
    found = summary_file.parse(text.encode())
    assert found["files"] == {"model.npz": "ab"}
    assert {key: found[key] for key in summary} == json.loads(json.dumps(summary))
    # Sealed again, not twice.
    assert summary_file.render(found, {"model.npz": "ab"}) == text


def test_the_seal_is_over_everything_else(summary):
    data = json.loads(summary_file.render(summary, {"model.npz": "ab"}))
    seal = data.pop("sha256")
    plain = json.dumps(data, sort_keys=True)
    assert seal == hashlib.sha256(plain.encode()).hexdigest()


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"epochs": True}, "epochs"),
        ({"seed": None}, "seed"),
        ({"polished": {"gates": [6, "3"], "from_step": None}}, r"polished\.gates\.1"),
        ({"polished": {"gates": [6, 3], "from_step": [1, 2, 3]}}, r"polished\.from_step"),
        ({"attempts": {"begun": 2, "result": "1"}}, r"attempts\.result"),
        ({"seconds": []}, "seconds"),
    ],
)
def test_wrong_types_are_named(summary, told, place):
    text = summary_file.render(summary | told, {})
    with pytest.raises(ValueError, match=f'^"{place}" is missing or has a wrong type'):
        summary_file.parse(text.encode())


@pytest.mark.parametrize(
    "told",
    [
        {"polished": {"gates": [6, 3], "from_step": [18, 16], "candidates": 4003}},
        {"polished": {"gates": [6, 3], "from_step": None, "candidates": 4003}},
        {"attempts": {"begun": 2, "result": 1}},
    ],
)
def test_what_only_some_runs_tell_is_read(summary, told):
    found = summary_file.parse(summary_file.render(summary | told, {}).encode())
    assert {key: found[key] for key in told} == told


def test_every_changed_byte_is_noticed(summary):
    content = summary_file.render(summary, {"model.npz": "ab"}).encode()
    for place in range(0, len(content), 37):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        try:
            found = summary_file.parse(bytes(damaged))
        except ValueError:
            continue
        # What it says is then the same: a blank that became another, say.
        assert found == summary_file.parse(content), damaged[place - 5 : place + 5]


def test_whatever_is_missing_or_of_another_type_is_read_or_refused(summary):
    good = json.loads(summary_file.render(summary, {}))
    del good["sha256"]
    refused = 0
    places = [(good, key) for key in good] + [
        (good[part], key) for part in ("scores", "seconds") for key in good[part]
    ]
    for inside, key in places:
        before = inside.pop(key)
        for value in (..., None, "x", [], {}, 1.5, [[1]]):
            if value is not ...:
                inside[key] = value
            try:
                summary_file.parse(summary_file.render(good, {}).encode())
            except ValueError:
                refused += 1
        inside[key] = before
    assert refused > 100


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"\xff", b"[" * 10**6, b"9" * 10**5, b'{"epochs": NaN}', b"{}"],
)
def test_what_is_no_summary_is_refused(content):
    with pytest.raises(ValueError, match=r"its? "):
        summary_file.parse(content)
