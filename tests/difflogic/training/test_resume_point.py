"""Where a run goes on when its checkpoints have suffered."""

import re

import numpy as np
import pytest

from difflogic.system.errors import RunDirectoryError
from difflogic.training import checkpoint, resume_point
from difflogic.training.checkpoint import checkpoints, write_checkpoint
from difflogic.training.resume_point import find_resume_point
from difflogic.training.run_directory import RunDirectory
from difflogic.training.session import execute
from difflogic.training.trainer import Trainer
from tests.difflogic.training.kill import results
from tests.difflogic.training.test_session import Said, stop_after
from tests.difflogic.training.tiny import tiny

CONFIG = tiny("training.epochs=10", "checkpoint.every_epochs=3")

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    execute(CONFIG, path)
    return results(path)


@pytest.fixture
def run(tmp_path):
    """A run that stopped at epoch 7, with checkpoints of 6 and 7."""
    path = tmp_path / "run"
    execute(CONFIG, path, should_stop=stop_after(7))
    assert [found.name for found in checkpoints(path)] == ["checkpoint-7.npz", "checkpoint-6.npz"]
    return path


def foreign(path):
    np.savez(path, x=np.arange(3))


def of_another_run(path):
    with Trainer(tiny("training.seed=5", "training.epochs=10")) as trainer:
        write_checkpoint(path.parent, trainer.config, 7, 0, trainer.state())


def uncovered(path):
    metrics = path.parent / "metrics.csv"
    metrics.write_text("\n".join(metrics.read_text().splitlines()[:-1]) + "\n")


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": foreign,
    "of another run": of_another_run,
    "not covered by the metrics": uncovered,
    "a directory": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_it_goes_back_to_the_one_before_and_says_so(run, whole, damage):
    DAMAGES[damage](run / "checkpoint-7.npz")
    said, summary = Said(), None
    stretch = []
    summary = execute(CONFIG, run, say=said, on_step=stretch.append)
    assert [result.epoch for result in stretch] == [7, 8, 9, 10]
    assert "checkpoint-7.npz" in str(said)
    assert "went back to checkpoint-6.npz" in str(said)
    assert len(said) == 1
    assert summary["finished"]
    assert results(run) == whole


def test_with_none_left_it_is_refused_with_all_reasons(run):
    for path in checkpoints(run):
        path.write_bytes(path.read_bytes()[:-50])
    model = (run / "model.npz").read_bytes()
    with pytest.raises(RunDirectoryError) as caught:
        execute(CONFIG, run)
    lines = str(caught.value).splitlines()
    assert re.search("run: cannot be resumed:$", lines[0])
    assert "checkpoint-7.npz" in lines[1]
    assert "checkpoint-6.npz" in lines[2]
    assert lines[3].endswith(f"dct train {run / 'config.toml'}")
    started = CONFIG.with_facts(start_sha256=64 * "a")
    with pytest.raises(RunDirectoryError, match=r"config\.toml --from .*run/start\.npz$"):
        find_resume_point(RunDirectory(run), started, {}, print)
    assert (run / "model.npz").read_bytes() == model
    assert len(checkpoints(run)) == 2


def test_one_of_a_newer_program_is_refused_though_an_older_one_is_there(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "VERSION", 2)
        with Trainer(CONFIG) as trainer:
            write_checkpoint(run, CONFIG, 7, 0, trainer.state())
    with pytest.raises(RunDirectoryError, match="install a newer dct"):
        execute(CONFIG, run)


def test_other_libraries_are_told_of(run, monkeypatch):
    said = Said()
    now = checkpoint.made_with()
    monkeypatch.setattr(resume_point, "made_with", lambda: now | {"numpy": "9.9"})
    execute(CONFIG, run, say=said)
    assert f"computed with numpy {now['numpy']} (now 9.9)" in str(said)
