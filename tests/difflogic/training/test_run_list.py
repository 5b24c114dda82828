"""The list of runs: what each tells, and what is damaged."""

import os
import shutil

import pytest

from difflogic.system.errors import RunDirectoryError
from difflogic.training.run_list import list_runs
from difflogic.training.session import execute
from tests.difflogic.training.tiny import tiny


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed in (3, 4):
        execute(tiny("training.epochs=5", f"training.seed={seed}"), root / f"seed{seed}")
    asked = iter(range(10))
    execute(tiny("training.epochs=9"), root / "half", should_stop=lambda: next(asked) == 2)
    return root


def test_runs_are_listed_in_the_order_of_their_beginning(runs):
    found = list_runs(runs)
    assert [(listed.path.name, listed.seed, listed.state) for listed in found] == [
        ("seed3", 3, "finished"),
        ("seed4", 4, "finished"),
        ("half", 23, "stopped"),
    ]
    assert [listed.epochs for listed in found] == [5, 5, 2]
    assert {listed.experiment for listed in found} == {"checkerboard-small"}
    assert all(listed.exact is False and listed.seconds > 0 for listed in found)


def test_what_has_no_summary_yet_is_told_by_its_checkpoint(runs, tmp_path):
    shutil.copytree(runs / "half", tmp_path / "half")
    (tmp_path / "half" / "summary.json").unlink()
    (found,) = list_runs(tmp_path)
    assert (found.state, found.epochs, found.exact, found.seed) == ("stopped", 2, None, 23)


def test_what_is_damaged_or_no_run(runs, tmp_path):
    for name, damaged in (("a", "summary.json"), ("b", "config.toml")):
        shutil.copytree(runs / "seed3", tmp_path / name)
        (tmp_path / name / damaged).write_text("{")
    (tmp_path / "b" / "summary.json").unlink()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    os.symlink("/dev/zero", tmp_path / "device")
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "sweep.toml").write_text("")
    found = {listed.path.name: listed.state for listed in list_runs(tmp_path)}
    assert found == {"a": "damaged", "b": "damaged", "sweep": "sweep"}


def test_no_directory(tmp_path):
    with pytest.raises(RunDirectoryError, match="no such directory"):
        list_runs(tmp_path / "absent")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="cannot be searched"):
        list_runs(tmp_path / "file")
