"""Runs are listed and compared as plain Python over the same numbers says."""

import json
import os
import shutil

import pytest

import difflogic
from difflogic.experiment.session import execute
from difflogic.library.training import train
from difflogic.run import records
from difflogic.run.lock import RunLock
from difflogic.run.records import list_runs
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.library.many_runs import make_run, with_keys
from tests.difflogic.training.tiny import stop_after, tiny

SEEDS = range(4)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed in (3, 4):
        execute(tiny("training.epochs=5", f"training.seed={seed}"), root / f"seed{seed}")
    execute(tiny("training.epochs=9"), root / "half", should_stop=stop_after(2))
    return root


@pytest.fixture
def root(runs, tmp_path):
    for seed in SEEDS:
        new = tmp_path / f"run{seed}"
        make_run(runs / "seed3", new, 1 + seed, seed % 3 > 0, seed=seed, batch=2 + seed % 2)
    return tmp_path


def test_settings_that_differ(root):
    found = difflogic.runs(root)
    assert found.settings == ("training.batch",)
    assert [run["training.batch"] for run in found] == [2 + seed % 2 for seed in SEEDS]
    assert [run["verdict"] for run in found] == ["not exact", "proved", "exact", "late"]
    other = train("game-of-life", ["training.epochs=1"], directory=root / "life").path
    assert difflogic.runs(root).settings == ("training.batch",)
    across = difflogic.runs([root / "run1", other])
    assert {"task.kind", "automaton.channels"} < set(across.settings)
    assert [run["task.kind"] for run in across] == ["checkerboard", "life"]
    with pytest.raises(RunDirectoryError, match="no such run"):
        difflogic.runs([root / "absent"])


def test_settings_chosen_to_fit_examples_do_not_differ():
    run, other = (
        records.RunRecord(None, {"experiment": ""}, {"task.pairs": n, "training.batch": n})
        for n in SEEDS[:2]
    )
    assert records.differing([run, other]) == ["task.pairs"]


def test_a_run_is_described_beside_the_shipped_settings(root):
    found = records.describe(root / "run3")
    assert found.changed["training.batch"][1] == 3
    assert found.changed["task.height"] == (16, 6)
    assert "automaton.boundary" not in found.changed
    assert "training.seed" not in found.changed
    settings = (root / "run3" / "config.toml").read_text()
    (root / "run3" / "config.toml").write_text(settings.replace("checkerboard-small", "mine"))
    assert not records.describe(root / "run3").changed
    assert found.summary.as_dict() == json.loads((root / "run3" / "summary.json").read_text())
    assert {"config.toml", "metrics.csv", "model.npz", "summary.json"} < found.files.keys()


def test_a_run_of_an_earlier_version(runs, root):
    kept, used = (
        with_keys(make_run(runs / "seed3", root / value), "automaton", f"switch = {value}")
        for value in ("false", "true")
    )
    assert difflogic.runs([root / "run0", kept]).settings == ()
    found = records.describe(kept)
    assert "automaton.switch" not in found.changed
    assert found.problem is None
    assert "[automaton] switch: was removed" in records.describe(used).problem


def test_runs_are_listed_by_time(runs):
    keys = ("experiment", "seed", "state", "epochs", "verdict")
    found = [[each.columns[key] for key in keys] for each in list_runs(runs)]
    assert found == [
        ["checkerboard-small", 3, "finished", 5, "not exact"],
        ["checkerboard-small", 4, "finished", 5, "not exact"],
        ["checkerboard-small", 36, "stopped", 2, "stopped"],
    ]


def test_a_run_without_summary_is_listed_by_its_checkpoint(runs, tmp_path):
    shutil.copytree(runs / "half", tmp_path / "half")
    (tmp_path / "half" / "summary.json").unlink()
    (found,) = list_runs(tmp_path)
    assert [found.columns[key] for key in ("state", "epochs", "gates", "seed")] == [
        "stopped",
        2,
        None,
        36,
    ]


def test_damaged_runs_and_other_files_in_the_list(runs, tmp_path):
    files = "summary.json", "config.toml", "config.toml", "metrics.csv", "model.npz"
    for name, damaged in zip("abcde", files, strict=True):
        shutil.copytree(runs / "seed3", tmp_path / name)
        (tmp_path / name / damaged).write_text("{")
    (tmp_path / "b" / "summary.json").unlink()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    os.symlink("/dev/zero", tmp_path / "device")
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "sweep.toml").write_text("")
    found = {listed.path.name: listed.columns["state"] for listed in list_runs(tmp_path)}
    assert found == {**dict.fromkeys("abcde", "damaged"), "sweep": "sweep"}


def test_no_directory(tmp_path):
    with pytest.raises(RunDirectoryError, match="no such directory"):
        list_runs(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="cannot be read"):
        list_runs(tmp_path / "file")


def test_a_held_run_is_training(runs, tmp_path):
    shutil.copytree(runs / "half", tmp_path / "half")
    with RunLock(tmp_path / "half"):
        assert [each.columns["state"] for each in list_runs(tmp_path)] == ["training"]
    assert [each.columns["state"] for each in list_runs(tmp_path)] == ["stopped"]


def test_runs_inside_a_sweep(runs, tmp_path):
    shutil.copytree(runs / "seed3", tmp_path / "sweep" / "batch=2" / "seed3")
    (tmp_path / "sweep" / "sweep.toml").write_text("")
    (tmp_path / "sweep" / "link").symlink_to(runs)
    (tmp_path / "sweep" / "batch=2" / "odd").mkdir()
    # A copy, since a file's time may be a tick of the clock before the one that stands in it.
    own = shutil.copy(runs / "seed3" / "config.toml", tmp_path / "own.toml")
    (tmp_path / "sweep" / "batch=2" / "odd" / "config.toml").symlink_to(own)
    assert [each.columns["state"] for each in list_runs(tmp_path)] == ["sweep"]
    for found in (list_runs(tmp_path, inside=True), list_runs(tmp_path / "sweep")):
        assert [(each.path.name, each.columns["state"]) for each in found] == [
            ("seed3", "finished"),
            ("odd", "damaged"),
        ]
