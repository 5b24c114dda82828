"""`dct bench --profile`, and `dct train --trace`."""

import json

import pytest

from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import TINY

OVERRIDES = [word for each in TINY for word in ("--set", each)]


@pytest.mark.thorough
def test_a_profile(dct):
    arguments = ["bench", "--small", *OVERRIDES, "--profile", "--repeat=2", "--workers=2"]
    found = dct(*arguments)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0].startswith("checkerboard-small · batch 2 · 2 workers, samples · a step of ")
    assert lines[2].startswith("   0 ")
    assert lines[3].startswith("   1 ")
    for part in ("perception", "update", "moves"):
        assert any(line.split()[:3] == ["backward:", part, "task"] for line in lines)
    assert "tracing costs" in lines[-2]
    assert lines[-1].startswith("searching: ")
    data = json.loads(dct(*arguments, "--json").stdout)
    assert data["workers"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "--workers", "1,2"], "measures one setting"),
        (["--profile", "--compare", "oracle"], "measures one setting"),
    ],
)
def test_wrong_options_are_refused(dct, arguments, message):
    assert message in dct("bench", "--small", *OVERRIDES, *arguments).refusal


def test_a_training_run_is_traced(dct, tmp_path):
    arguments = ["train", "checkerboard-small", *OVERRIDES, "--epochs=3", "--quiet"]
    found = dct(*arguments, "--dir=run", "--trace=trace.json")
    assert found.exit_code == 0, found.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("optimizer") == 3
    assert "forward" in names
    plain = dct(*arguments, "--dir=plain")
    assert plain.exit_code == 0
    traced, untraced = (tmp_path / name / "model.npz" for name in ("run", "plain"))
    assert traced.read_bytes() == untraced.read_bytes()
    refused = dct(*arguments, "--dir=third", "--trace=trace.json")
    assert refused.exit_code == 2
    assert not (tmp_path / "third").exists()


TRAIN = ["train", "checkerboard-small", *OVERRIDES, "--epochs=2", "--quiet"]


def test_a_trace_stays_out_of_the_new_run(dct, tmp_path):
    (tmp_path / "run").mkdir()
    told = dct(*TRAIN, "--dir=run", "--trace=run/model.npz").refusal
    assert "--trace run/model.npz: is inside the run's directory" in told
    assert list((tmp_path / "run").iterdir()) == []


def test_a_trace_replaces_nothing_that_came_meanwhile(dct, tmp_path, monkeypatch):
    real = Trainer.step

    def step(trainer):
        (tmp_path / "trace.json").write_text("mine")
        return real(trainer)

    monkeypatch.setattr(Trainer, "step", step)
    found = dct(*TRAIN, "--dir=run", "--trace=trace.json")
    assert found.exit_code == 1
    assert "trace.json: exists already: choose another path" in found.stderr
    assert "next " in found.stdout
    assert (tmp_path / "trace.json").read_text() == "mine"


def test_a_trace_follows_no_link(dct, tmp_path):
    (tmp_path / "trace.json").symlink_to(tmp_path / "nowhere")
    assert "is not a regular file" in dct(*TRAIN, "--dir=run", "--trace=trace.json").refusal
    assert not (tmp_path / "run").exists()
