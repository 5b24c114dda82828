"""`dct train-examples` and `dct apply`: they run, and refuse what makes no sense."""

import json
import re
from pathlib import Path

import pytest

from difflogic.examples.encoding import CLASH_NAME
from difflogic.library import applying
from difflogic.library.applying import Applied
from tests.paths import GALLERY

FLOOD = f"{GALLERY}/flood.json"
PAIRS = "1,0,0\n\n0,1,0\n\n0,2,0,0\n\n0,0,2,0\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return str(path)


@pytest.mark.once
@pytest.mark.slow
def test_a_rule_is_learned_and_applied(dct, pairs):
    learned = dct(f"train-examples {pairs} --dir learned").good
    assert "training 2 of 2 pairs right; none was kept aside" in learned.stdout
    assert "2 pairs to learn from; 1×3 to 1×4 cells" in learned.stderr
    Path("more.json").write_text(json.dumps({"test": [{"input": [[3, 0, 0, 0, 0, 0]]}]}))
    assert dct("apply learned more.json -o out.json").good
    saved = json.loads(Path("out.json").read_text())
    assert saved["test"][0]["output"] == [[0, 3, 0, 0, 0, 0]]
    again = dct("apply learned more.json -o out.json")
    assert "exists already" in again.refusal
    Path("hostile.json").write_text(json.dumps([[["\x1b]0;title\x07", 0, 0]]]))
    shown = dct("apply learned hostile.json").stdout
    assert shown.count("\\x1b]0;title\\x07") == 2, "before and after"
    Path("wrong.json").write_text(json.dumps([{"input": [[3, 0, 0]], "output": [[0, 3, 3]]}]))
    wrong = dct("apply learned wrong.json").failed
    assert "  3 0 0  →  0 3 0*  0 3 3\n" in wrong.stdout
    assert shown_next(learned.stdout) == shown_next(dct("runs show learned").stdout)
    assert "meaning: 0: this" in dct("inspect learned").stdout


def shown_next(text):
    return re.findall(r"dct \w+ learned FILE|dct simplify learned -o FILE", text)


def test_what_a_question_mark_means_is_said(dct, tmp_path, monkeypatch):
    shown = Applied("grid 1", (("3", "0"),), (("3", CLASH_NAME),), None)
    monkeypatch.setattr(applying, "apply", lambda *_: [shown])
    result = dct(f"apply {FLOOD} grids.json")
    assert "3 ?" in result.stdout
    assert result.stderr == "?: a cell for which the rule gives two symbols\n"


REFUSED = {
    "share": (["train-examples", "PAIRS", "--hold-out", "1.5"], "is not a number from 0 to 1"),
    "all": (["train-examples", "PAIRS", "--hold-out", "0.9"], "leaves none"),
    "channels": (["train-examples", "PAIRS", "--channels", "1"], "--channels 1: the bits that say"),
    "steps": (["train-examples", "PAIRS", "--steps", "1000000000"], "--steps"),
    "workers": (["train-examples", "PAIRS", "--workers", "0"], 'for --workers: "0" is not'),
    "name": (["train-examples", "PAIRS", "--name", "a/b"], "--name a/b: name must be"),
    "directory": (["train-examples", "no.csv", "--dir", "."], "is not empty"),
    "file": (["train-examples", "pairs.toml"], "is no file of examples"),
    "train": (["train", "PAIRS"], "dct train-examples"),
    "a circuit's own file": (["identify", FLOOD], "is a circuit, not what it did: dct inspect"),
    "circuit": (["apply", FLOOD, "PAIRS"], "was not learned from examples"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_nonsense_is_refused(dct, pairs, what):
    command, words = REFUSED[what]
    assert words in dct(*(pairs if word == "PAIRS" else word for word in command)).refusal
