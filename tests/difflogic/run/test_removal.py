"""Runs and sweeps are removed whole, or not at all; nothing else is."""

import os
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from difflogic.library.training import train
from difflogic.run.lock import RunLock, holding, removable
from difflogic.run.run_directory import RunDirectory
from difflogic.sweeps.sweep import sweep
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.system.errors import RunDirectoryError
from tests.cli.conftest import TINY

SHORT = [*TINY, "training.epochs=2"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = tmp_path_factory.mktemp("trained")
    train("checkerboard", SHORT, directory=root / "run")
    grid = ["training.batch=1,2"]
    sweep(
        "checkerboard",
        SweepOptions("0-1", overrides=SHORT, grid=grid, directory=root / "sweep", jobs=1),
    )
    return root


@pytest.fixture
def runs(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "runs")


def content(root):
    return {path: path.is_file() and path.read_bytes() for path in root.rglob("*")}


@pytest.mark.parametrize("name", ["run", "sweep", "sweep/batch=2/seed1"])
def test_nothing_of_it_is_left(runs, name):
    others = {path for path in content(runs) if not path.is_relative_to(runs / name)}
    (runs / name / ".dct-0.tmp").touch()
    found = removable(runs / name)
    assert found.size == sum(len(data) for data in content(runs / name).values() if data)
    found.remove()
    assert set(content(runs)) == others


def test_the_code_of_a_custom_task_is_the_runs_own(runs):
    config = runs / "run" / "config.toml"
    config.write_text(
        config.read_text().replace('kind = "checkerboard"', 'kind = "my/vote.py:Vote"')
    )
    (runs / "run" / "vote.py").touch()
    removable(runs / "run").remove()
    assert not (runs / "run").exists()


@pytest.fixture
def killed(runs):
    """What a killed search for a rule leaves: attempts, one of them before its config.toml."""
    (runs / "killed" / ".attempt-2").mkdir(parents=True)
    (runs / "killed" / ".attempt-2" / ".lock").touch()
    shutil.copytree(runs / "run", runs / "killed" / ".attempt-1")
    return runs / "killed"


@pytest.mark.parametrize("moves", [0, 5, 6])
def test_attempts_of_a_killed_search_are_cleared_or_removed(killed, tmp_path, monkeypatch, moves):
    """It may be killed while the files of the best one move; the last makes it a run."""
    moved = killed / ".attempt-1"
    files = len(list(moved.iterdir()))
    left = [moves]

    def rename(path, target):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(5, "Input/output error")
        os.rename(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(RunDirectoryError) if moves < files else nullcontext():
        RunDirectory(killed).adopt(RunDirectory(moved))
    copy = shutil.copytree(killed, tmp_path / "copy")
    with holding(RunDirectory(killed)) as lock:
        lock.require()
    assert len(list(killed.iterdir())) == (0 if moves < files else files)
    removable(copy).remove()
    assert not copy.exists()


@pytest.mark.parametrize("name", ["mine", ".attempt-1/mine", ".attempt-x/mine", ".attempt-3"])
def test_nothing_else_is_cleared(killed, name):
    (killed / name).parent.mkdir(exist_ok=True)
    (killed / name).symlink_to(killed.parent / "run")
    before = content(killed.parent)
    refused = pytest.raises(RunDirectoryError, match="did not write this")
    with refused, holding(RunDirectory(killed)):
        pass
    assert content(killed.parent) == before


def foreign(name):
    return lambda runs: (runs / name).write_text("mine")


REFUSED = {
    "a file of the user's": (foreign("run/report.html"), "run", "did not write this"),
    "a file in a sweep": (foreign("sweep/batch=1/plot.svg"), "sweep", "did not write this"),
    "a directory in a run": (lambda runs: (runs / "run" / "more").mkdir(), "run", "did not write"),
    "a link in a run": (
        lambda runs: (runs / "run" / "checkpoint-9.npz").symlink_to("/etc/hostname"),
        "run",
        "did not write this",
    ),
    "a linked run": (lambda runs: (runs / "link").symlink_to("run"), "link", "is a link"),
    "no run": (lambda runs: (runs / "mine").mkdir(), "mine", "holds no run"),
    "a project's config.toml": (foreign("run/config.toml"), "run", r"config.toml: remove the"),
    "another program's sweep": (foreign("sweep/sweep.toml"), "sweep", "did not write its sweep"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(runs, case):
    change, name, message = REFUSED[case]
    change(runs)
    before = content(runs)
    with pytest.raises(RunDirectoryError, match=message):
        removable(runs / name)
    assert content(runs) == before


@pytest.mark.parametrize("name", ["run", "sweep", "sweep/batch=2/seed1"])
def test_a_run_that_trains_stays(runs, name):
    target = name.partition("/")[0]
    before = content(runs)
    found = removable(runs / target)
    with RunLock(runs / name):
        for act in (found.remove, lambda: removable(runs / target)):
            with pytest.raises(RunDirectoryError, match="in use by"):
                act()
    assert content(runs) == before
