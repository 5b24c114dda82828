"""`dct train --trace`."""

import json

from difflogic.training.searching import Trainer
from tests.difflogic.training.tiny import TINY

TRAIN = [
    "train",
    "checkerboard-small",
    *(f"--set={each}" for each in TINY),
    "--epochs=3",
    "--quiet",
]


def test_a_training_run_is_traced(dct, tmp_path):
    found = dct(*TRAIN, "--dir=run", "--trace=trace.json")
    assert found.exit_code == 0, found.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("optimizer") == 3
    assert "forward" in names
    plain = dct(*TRAIN, "--dir=plain")
    assert plain.exit_code == 0
    traced, untraced = (tmp_path / name / "model.npz" for name in ("run", "plain"))
    assert traced.read_bytes() == untraced.read_bytes()
    refused = dct(*TRAIN, "--dir=third", "--trace=trace.json")
    assert refused.exit_code == 2
    assert not (tmp_path / "third").exists()


def test_a_trace_inside_the_new_run_is_refused(dct, tmp_path):
    (tmp_path / "run").mkdir()
    refusal = dct(*TRAIN, "--dir=run", "--trace=run/model.npz").refusal
    assert "--trace run/model.npz: is inside the run's directory" in refusal
    assert list((tmp_path / "run").iterdir()) == []
    (tmp_path / "trace.json").symlink_to(tmp_path / "nowhere")
    refusal = dct(*TRAIN, "--dir=run", "--trace=trace.json").refusal
    assert "is a link to something other than a file" in refusal


def test_a_trace_does_not_replace_a_file_written_meanwhile(dct, tmp_path, monkeypatch):
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
