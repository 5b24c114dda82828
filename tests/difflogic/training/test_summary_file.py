"""summary.json: what is sealed, what is refused."""

import copy
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
    # Sealed anew, not once more.
    assert summary_file.render(found, {"model.npz": "ab"}) == text


def test_the_seal_is_over_everything_else(summary):
    data = json.loads(summary_file.render(summary, {"model.npz": "ab"}))
    seal = data.pop("sha256")
    plain = json.dumps(data, sort_keys=True)
    assert seal == hashlib.sha256(plain.encode()).hexdigest()


def test_one_of_before_there_were_seals_is_read(summary):
    data = json.loads(summary_file.render(summary, {}))
    del data["sha256"], data["files"]
    assert summary_file.parse(json.dumps(data).encode())["files"] == {}


def test_one_that_tells_of_polishing_is_read(summary):
    for from_step in ([18, 16], None):
        polished = {"gates": [6, 3], "from_step": from_step, "candidates": 4003}
        text = summary_file.render(summary | {"polished": polished}, {})
        assert summary_file.parse(text.encode())["polished"] == polished


@pytest.mark.parametrize(
    "polished",
    [3, [], {}, {"gates": [6]}, {"gates": [6, "3"]}, {"gates": [6, 3], "from_step": [1, 2, 3]}],
)
def test_one_that_tells_wrongly_of_polishing_is_refused(summary, polished):
    text = summary_file.render(summary | {"polished": polished}, {})
    with pytest.raises(ValueError, match='"polished" is of a wrong type'):
        summary_file.parse(text.encode())


@pytest.mark.parametrize(
    "attempts",
    [
        3,
        {},
        {"begun": 2, "given_up": "1", "result": 1},
        {"begun": 2, "result": 1},
        {"begun": None, "given_up": 1, "result": 1},
    ],
)
def test_one_that_tells_wrongly_of_attempts_is_refused(summary, attempts):
    whole = {"begun": 2, "given_up": 1, "result": 1}
    for told in (whole, whole | {"given_up": None}):
        assert summary_file.parse(summary_file.render(summary | {"attempts": told}, {}).encode())
    text = summary_file.render(summary | {"attempts": attempts}, {})
    with pytest.raises(ValueError, match=r'"attempts\.\w+" is missing or of a wrong type'):
        summary_file.parse(text.encode())


def test_every_changed_byte_is_noticed(summary):
    content = summary_file.render(summary, {"model.npz": "ab"}).encode()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        try:
            found = summary_file.parse(bytes(damaged))
        except ValueError:
            continue
        # What it says is then the same: a blank that became another, say.
        assert found == summary_file.parse(content), damaged[place - 5 : place + 5]


def leaves(data, place=()):
    for key, value in data.items():
        yield (*place, key)
        if isinstance(value, dict):
            yield from leaves(value, (*place, key))


def test_whatever_is_missing_or_of_another_type_is_read_or_refused(summary):
    good = json.loads(summary_file.render(summary, {}))
    del good["sha256"], good["files"]
    refused = 0
    for place in list(leaves(good)):
        for value in (None, "x", [], {}, 1.5, True, [[1]], ...):
            data = copy.deepcopy(good)
            inside = data
            for key in place[:-1]:
                inside = inside[key]
            if value is ...:
                del inside[place[-1]]
            else:
                inside[place[-1]] = value
            try:
                summary_file.parse(json.dumps(data).encode())
            except ValueError:
                refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"\xff", b"[" * 10**6, b"9" * 10**5, b'{"epochs": NaN}', b"{}"],
)
def test_what_is_no_summary_is_refused(content):
    with pytest.raises(ValueError, match=r"it |missing"):
        summary_file.parse(content)


def test_one_that_tells_wrongly_of_growth_is_refused(summary):
    for since in (None, 1500):
        text = summary_file.render(summary | {"pool_from": since}, {})
        assert summary_file.parse(text.encode())["pool_from"] == since
    text = summary_file.render(summary | {"pool_from": "1500"}, {})
    with pytest.raises(ValueError, match='"pool_from" is of a wrong type'):
        summary_file.parse(text.encode())
