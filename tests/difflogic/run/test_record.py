"""Lists of runs, beside what Python's own TOML reader says."""

import os
import shutil
import tomllib

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from difflogic.experiment.session import execute
from difflogic.run.lock import RunLock
from difflogic.run.record import list_runs, parse_settings, proved_runs
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.library.many_runs import make_run
from tests.difflogic.training.tiny import stop_after, tiny


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed in (3, 4):
        execute(tiny("training.epochs=5", f"training.seed={seed}"), root / f"seed{seed}")
    execute(tiny("training.epochs=9"), root / "half", should_stop=stop_after(2))
    return root


def test_runs_are_listed_by_time(runs):
    found = list_runs(runs)
    assert [
        (listed.path.name, listed.columns["seed"], listed.columns["state"]) for listed in found
    ] == [("seed3", 3, "finished"), ("seed4", 4, "finished"), ("half", 36, "stopped")]
    assert [listed.columns["epochs"] for listed in found] == [5, 5, 2]
    assert {listed.columns["experiment"] for listed in found} == {"checkerboard-small"}
    assert all(listed.columns["verdict"] in ("not exact", "stopped") for listed in found)


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
    with pytest.raises(RunDirectoryError, match="cannot be searched"):
        list_runs(tmp_path / "file")


TEXTS = st.text("ab=[]#'\" \n\\", max_size=12) | st.sampled_from(["x\n[b]\nc = 1\n", "a = 2"])
VALUES = st.integers() | st.booleans() | TEXTS | st.lists(TEXTS | st.integers(), max_size=3)
TABLES = st.dictionaries(st.sampled_from("abcd"), VALUES)


@given(
    st.dictionaries(st.sampled_from(["x", "y"]), VALUES),
    st.dictionaries(st.text("stu", min_size=1), TABLES),
)
def test_settings_are_those_of_the_whole_text(top, sections):
    text = "# written\n" + tomli_w.dumps(top | sections, multiline_strings=True)
    whole = tomllib.loads(text)
    expected = {f"{name}.{key}": value for name in sections for key, value in whole[name].items()}
    assert (
        parse_settings(text) == {key: whole[key] for key in top if key not in sections} | expected
    )


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
    (tmp_path / "sweep" / "batch=2" / "odd" / "config.toml").symlink_to(
        runs / "seed3" / "config.toml"
    )
    assert [each.columns["state"] for each in list_runs(tmp_path)] == ["sweep"]
    for found in (list_runs(tmp_path, inside=True), list_runs(tmp_path / "sweep")):
        assert [each.path.name for each in found] == ["seed3"]


def test_earlier_runs_of_the_same_settings_tell_when_a_run_is_proved(runs, tmp_path):
    for name, batch in (("a", 1), ("b", 1), ("c", 2)):
        path = make_run(
            runs / "seed3", tmp_path / f"{name}-checkerboard-small", seed=1, batch=batch
        )
        assert parse_settings((path / "config.toml").read_text())["training.batch"] == batch
    config = tiny("training.epochs=5", "training.batch=1", "training.seed=9")
    new = tmp_path / "d-checkerboard-small-seed9"
    assert [epochs for epochs, _ in proved_runs(new, config)] == [5, 5]
    assert len(proved_runs(tmp_path / "a-checkerboard-small", config)) == 1
    assert proved_runs(new, tiny("training.epochs=5", "training.batch=3")) == []
