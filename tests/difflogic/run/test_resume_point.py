"""Resuming: settings that may change, and damaged checkpoints."""

import os
import re

import numpy as np
import pytest

from difflogic.config import load_config, schema
from difflogic.config.sections import CHANGEABLE
from difflogic.experiment.searching import Trainer
from difflogic.experiment.session import execute
from difflogic.run import checkpoint
from difflogic.run.checkpoint import Checkpoint, find_resume_point, write_checkpoint
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import differing, refuse_changes, with_free_settings
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.experiment.kill import results
from tests.difflogic.experiment.test_session import stop_after
from tests.difflogic.training.tiny import tiny

STORED = load_config("checkerboard-small")


@pytest.mark.parametrize(
    ("override", "difference"),
    {
        "training.seed=0": f"training.seed: {STORED.training.seed} → 0",
        "pool.later=3": "pool.later: 48 → 3",
        "name=other": "name: 'checkerboard-small' → 'other'",
        "published.learned_by=5": "published.learned_by: not set → 5",
        "update.carry=3": "update.carry: 4.0 → 3.0",
    }.items(),
)
def test_changes_that_make_another_run(override, difference):
    given = load_config("checkerboard-small", [override])
    assert differing(STORED, given) == [difference]
    with pytest.raises(RunDirectoryError, match="runs/x: is a run with other settings"):
        refuse_changes("runs/x", STORED, given)


FREELY = [
    "parallel.workers=3",
    "parallel.strategy=sequential",
    "parallel.memory_budget=1GB",
    "parallel.device=gpu",
    "checkpoint.every_seconds=0.0",
    "checkpoint.every_epochs=3",
]


def test_settings_without_effect_on_results_may_change():
    named = {f"{section}.{key}" for section in CHANGEABLE for key in schema.keys(section)}
    assert {override.partition("=")[0] for override in FREELY} == named
    given = load_config("checkerboard-small", FREELY)
    assert differing(STORED, given) == []
    stretch = with_free_settings(STORED, given)
    assert stretch == given
    assert STORED.parallel.workers == "auto"


def test_epochs_may_only_increase():
    most = STORED.training.epochs
    for epochs in (most, most + 1):
        given = load_config("checkerboard-small", [f"training.epochs={epochs}"])
        refuse_changes("runs/x", STORED, given)
        assert with_free_settings(STORED, given).training.epochs == epochs
    fewer = load_config("checkerboard-small", [f"training.epochs={most - 1}"])
    with pytest.raises(RunDirectoryError, match=f"than {most - 1}: .*: ask for {most} epochs or"):
        refuse_changes("runs/x", STORED, fewer)


CONFIG = tiny("training.epochs=10", "checkpoint.every_epochs=3")


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
    assert [found.name for found in RunDirectory(path).checkpoints] == [
        "checkpoint-7.npz",
        "checkpoint-6.npz",
    ]
    return path


def write(directory, trainer):
    write_checkpoint(
        RunDirectory(directory),
        Checkpoint(
            epoch=7, resumed=0, config=trainer.config.to_dict(), state=trainer.state(), seconds={}
        ),
    )


def foreign(path):
    np.savez(path, x=np.arange(3))


def of_another_run(path):
    with Trainer(tiny("training.seed=5", "training.epochs=10")) as trainer:
        write(path.parent, trainer)


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:1000]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": foreign,
    "of another run": of_another_run,
    "a directory": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.once
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_makes_it_use_the_one_before(run, whole, damage, said):
    DAMAGES[damage](run / "checkpoint-7.npz")
    stretch = []
    summary = execute(CONFIG, run, on_step=stretch.append)
    assert [result.epoch for result in stretch] == [7, 8, 9, 10]
    (message,) = said
    assert "checkpoint-7.npz" in message
    assert "went back to checkpoint-6.npz" in message
    assert summary.finished
    assert results(run) == whole


def test_a_run_that_ends_at_epoch_0_needs_no_metrics(tmp_path, whole, said):
    path = tmp_path / "run"
    execute(CONFIG, path, should_stop=lambda: True)
    (path / "metrics.csv").unlink()
    execute(CONFIG, path)
    assert results(path) == whole
    (message,) = said
    assert re.search(r"metrics\.csv.*: the run goes on without the rows that are lost$", message)


def test_a_run_without_usable_checkpoints_is_refused(run):
    for path in RunDirectory(run).checkpoints:
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
        find_resume_point(RunDirectory(run), started, {})
    assert (run / "model.npz").read_bytes() == model
    assert len(RunDirectory(run).checkpoints) == 2


def test_metrics_of_another_run_are_noticed(run, tmp_path):
    execute(tiny("training.seed=5", "training.epochs=10"), tmp_path / "other")
    metrics = (tmp_path / "other" / "metrics.csv").read_bytes()
    (run / "metrics.csv").write_bytes(metrics)
    with pytest.raises(RunDirectoryError, match=r"metrics\.csv: is of another run"):
        execute(CONFIG, run)
    assert (run / "metrics.csv").read_bytes() == metrics
    assert len(RunDirectory(run).checkpoints) == 2


def without_lines(*numbers):
    def change(metrics):
        lines = metrics.read_text().splitlines(keepends=True)
        metrics.write_text("".join(line for n, line in enumerate(lines) if n not in numbers))

    return change


LOSSES = {
    "gone": (lambda metrics: metrics.unlink(), []),
    "a link": (lambda metrics: (metrics.unlink(), metrics.symlink_to("elsewhere")), []),
    "a pipe": (lambda metrics: (metrics.unlink(), os.mkfifo(metrics)), []),
    "cut": (without_lines(6, 7), [1, 2, 3, 4, 5]),
    "torn": (lambda metrics: metrics.write_text(metrics.read_text()[:-40]), [1, 2, 3, 4, 5, 6]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("loss", LOSSES)
def test_the_checkpoint_alone_says_where_a_run_stands(run, whole, loss, said):
    """Lost rows of metrics stay lost; the run goes on from its checkpoint, twice, to its bits."""
    change, kept = LOSSES[loss]
    change(run / "metrics.csv")
    stretch = []
    execute(CONFIG, run, on_step=stretch.append, should_stop=stop_after(1))
    execute(CONFIG, run, on_step=stretch.append)
    assert [result.epoch for result in stretch] == [8, 9, 10]
    assert "goes on without the rows that are lost" in said[0]
    found = results(run)
    rows = found.pop("metrics")
    assert rows == [row for row in whole["metrics"] if int(row[0]) in (*kept, 8, 9, 10)]
    assert found == {name: part for name, part in whole.items() if name != "metrics"}


@pytest.mark.thorough
def test_a_checkpoint_of_a_newer_program_stops_the_run(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "VERSION", 2)
        with Trainer(CONFIG) as trainer:
            write(run, trainer)
    with pytest.raises(RunDirectoryError, match="install a newer dct"):
        execute(CONFIG, run)


def test_other_libraries_are_reported(run, monkeypatch, said):
    now = checkpoint.made_with()
    monkeypatch.setattr(checkpoint, "made_with", lambda device: now | {"numpy": "9.9"})
    execute(CONFIG, run)
    assert f"computed with numpy {now['numpy']} (now 9.9)" in "".join(said)


@pytest.mark.parametrize("name", ["model.npz", "summary.json", "checkpoint-3.npz"])
def test_a_run_that_wrote_something_does_not_begin_again(tmp_path, name):
    assert find_resume_point(RunDirectory(tmp_path), CONFIG, {}) is None
    (tmp_path / name).touch()
    with pytest.raises(RunDirectoryError, match="cannot be resumed"):
        find_resume_point(RunDirectory(tmp_path), CONFIG, {})
