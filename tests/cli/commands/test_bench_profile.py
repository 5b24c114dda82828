"""`dct bench --profile`, and `dct train --trace`."""

import json

import pytest
from typer.testing import CliRunner

from cli.app import app
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import TINY

OVERRIDES = [word for each in TINY for word in ("--set", each)]


def dct(*arguments):
    return CliRunner().invoke(app, [*arguments])


@pytest.mark.thorough
def test_a_profile(tmp_path):
    file = tmp_path / "trace.json"
    arguments = ["bench", "--small", *OVERRIDES, "--profile", "--repeat=2", "--workers=2"]
    found = dct(*arguments, "--trace", str(file))
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0].startswith("checkerboard-small · batch 2 · 2 workers, samples · a step of ")
    assert lines[2].startswith("   0 ")
    assert lines[3].startswith("   1 ")
    assert any(line.split()[:2] == ["backward", "task"] for line in lines)
    assert "tracing costs" in lines[-1]
    assert json.loads(file.read_text())["traceEvents"]
    assert f"saved {file}" in found.stderr
    data = json.loads(dct(*arguments, "--json").stdout)
    assert data["workers"] == 2

    again = dct(*arguments, "--trace", str(file))
    assert again.exit_code == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trace", "x.json"], "--trace needs --profile"),
        (["--profile", "--workers", "1,2"], "measures one setting"),
        (["--profile", "--compare", "oracle"], "measures one setting"),
        (["--profile", "--trace", "/no/such/place.json"], "/no/such/place.json"),
    ],
)
def test_wrong_options_are_refused(arguments, message):
    found = dct("bench", "--small", *OVERRIDES, *arguments)
    assert found.exit_code == 2, found.output
    assert message in found.stderr


def test_a_training_run_is_traced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["train", "checkerboard-small", *OVERRIDES, "--epochs=3", "--quiet"]
    found = dct(*arguments, "--dir=run", "--trace=trace.json")
    assert found.exit_code == 0, found.output
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("optimizer") == 3
    assert "forward" in names
    plain = dct(*arguments, "--dir=plain")
    assert plain.exit_code == 0
    for name in ("model.npz",):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    refused = dct(*arguments, "--dir=third", "--trace=trace.json")
    assert refused.exit_code == 2
    assert not (tmp_path / "third").exists()


TRAIN = ["train", "checkerboard-small", *OVERRIDES, "--epochs=2", "--quiet"]


def test_a_trace_stays_out_of_the_new_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    found = dct(*TRAIN, "--dir=run", "--trace=run/model.npz")
    assert found.exit_code == 2
    assert "--trace run/model.npz: is inside the run's directory" in found.stderr
    assert list((tmp_path / "run").iterdir()) == []


def test_a_trace_replaces_nothing_that_came_meanwhile(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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


def test_a_trace_follows_no_link(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.json").symlink_to(tmp_path / "nowhere")
    found = dct(*TRAIN, "--dir=run", "--trace=trace.json")
    assert found.exit_code == 2
    assert "is not a regular file" in found.stderr
    assert not (tmp_path / "run").exists()
