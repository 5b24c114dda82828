"""`dct train-checkerboard` in a process of its own."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from difflogic.model.model import Model
from difflogic.training.metrics import COLUMNS, PHASES

pytestmark = pytest.mark.thorough

REPOSITORY = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "cli", "train-checkerboard"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def train(tmp_path, tiny):
    """Run `dct train-checkerboard` with next to nothing to train, in `tmp_path`."""

    def run(*arguments):
        return subprocess.run(
            [*COMMAND, *(f"--set={override}" for override in tiny), *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return run


def read_metrics(run):
    with (run / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_leaves_everything(tmp_path, train):
    done = train("--epochs=20", "--json", "--seed=3", "--workers=2")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    run = tmp_path / summary["run_directory"]

    rows = read_metrics(run)
    assert list(rows[0]) == list(COLUMNS)
    assert [int(row["epoch"]) for row in rows] == list(range(1, 21))
    assert float(rows[-1]["soft_loss"]) == summary["scores"]["soft_loss"]
    assert float(rows[-1]["hard_loss"]) == summary["scores"]["hard_loss"]
    assert json.loads((run / "summary.json").read_text()) == {
        key: value for key, value in summary.items() if key != "run_directory"
    }
    assert set(summary["seconds"]["phases"]) == set(PHASES)
    assert summary["workers"] == 2
    assert summary["scores"]["held_out"]["starts"] == 64
    assert Model.load(run / "model.npz").config.training.seed == 3


def test_the_same_seed_gives_the_same_run_at_any_number_of_workers(tmp_path, train):
    for workers in (1, 3):
        done = train("--epochs=10", f"--workers={workers}", f"--dir={workers}")
        assert done.returncode == 0, done.stderr
    # The configurations differ in the number of workers, so the files do too.
    one, three = (Model.load(tmp_path / name / "model.npz") for name in ("1", "3"))
    assert one.logits.tobytes() == three.logits.tobytes()


def test_text_for_people(train):
    done = train("--epochs=10")
    assert done.returncode == 0, done.stderr
    assert "hard evaluation" in done.stdout
    assert "held out" in done.stdout
    assert "\nnext " in done.stdout
    assert "epoch 10/10" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_saves_and_exits_130(tmp_path, tiny):
    process = subprocess.Popen(
        [*COMMAND, *(f"--set={x}" for x in tiny), "--epochs=1000000", "--dir=run"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("epoch"):
            break
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)

    assert process.returncode == 130, err
    assert "interrupted after epoch" in err
    assert "Traceback" not in err
    assert "dct train --resume run\n" in out
    run = tmp_path / "run"
    epochs = json.loads((run / "summary.json").read_text())["epochs"]
    assert len(read_metrics(run)) == epochs
    assert Model.load(run / "model.npz")
    assert not [path for path in run.iterdir() if path.suffix == ".tmp"]


def test_a_learning_rate_beyond_reason_ends_in_words(train):
    done = train("--epochs=50", "--set=training.learning_rate=nan")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "learning_rate" in done.stderr
