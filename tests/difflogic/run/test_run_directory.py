import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from difflogic.config import load_config
from difflogic.library.training import resolve
from difflogic.run import run_directory
from difflogic.run.run_directory import RunDirectory, saved_model
from difflogic.run.settings import read_config, run_name, write_config
from difflogic.run.summary import write_summary
from difflogic.system.errors import ConfigError, RunDirectoryError, UnreadableError
from tests.difflogic.run.summaries import summary

CONFIG = load_config("checkerboard-small", ["training.seed=36"])


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(run_directory, "ROOT", tmp_path)


def test_each_run_gets_a_new_directory(tmp_path, monkeypatch):
    root = tmp_path / "deep" / "runs"
    monkeypatch.setattr(run_directory, "ROOT", root)
    before = datetime.now().replace(microsecond=0)
    made = [RunDirectory.create(run_name(CONFIG)).path for _ in range(3)]
    assert len(set(made)) == 3
    for path in made:
        stamp = path.name[:15]
        name = path.name[15:]
        assert before <= datetime.strptime(stamp, "%Y%m%d-%H%M%S") <= datetime.now()
        assert re.fullmatch("-checkerboard-small-seed36(-[23])?", name)
    assert all(path.parent == root and path.is_dir() for path in made)


def test_a_directory_with_files_is_refused(tmp_path):
    (tmp_path / ".hidden").write_text("")
    with pytest.raises(RunDirectoryError, match="is not empty, and runs are never overwritten"):
        RunDirectory.create(requested=tmp_path)
    assert os.listdir(tmp_path) == [".hidden"]
    (tmp_path / "config.toml").write_text("name = 'x'")
    # The same words for dct train-examples, which has no --resume.
    with pytest.raises(RunDirectoryError, match=r"\(dct train --resume .* continues its run\)$"):
        RunDirectory.create(requested=tmp_path)
    (tmp_path / "config.toml").write_text("damaged")
    with pytest.raises(RunDirectoryError, match=r"name a new or empty directory$"):
        RunDirectory.create(requested=tmp_path)


def test_files_where_directories_should_be(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for given, message in (
        ({"requested": file}, "is a file or a link: name"),
        ({"requested": link}, "is a file or a link: name"),
        ({"root": file}, "is a file, but should be the directory of all runs"),
        ({"requested": file / "below"}, "a part of the path is a file"),
        ({"root": file / "below"}, "a part of the path is a file"),
        ({"requested": Path("last")}, "last: means the newest run"),
    ):
        monkeypatch.setattr(run_directory, "ROOT", given.pop("root", None))
        with pytest.raises(RunDirectoryError, match=message):
            RunDirectory.create(**given)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("how", [{"requested": Path("new")}, {"name": "x"}])
def test_errors_of_the_system(tmp_path, monkeypatch, how):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_directory.Path, "mkdir", refuse)
    with pytest.raises(RunDirectoryError, match="permission denied: check the directory's perm"):
        RunDirectory.create(**how)


def test_a_summary_that_cannot_be_written_leaves_the_earlier_one(tmp_path):
    run = RunDirectory(tmp_path)
    write_summary(run, summary(seed=1))
    with pytest.raises(TypeError):
        write_summary(run, summary(seed=2, more=object()))
    assert os.listdir(tmp_path) == ["summary.json"]
    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 1


def test_a_run_and_the_last_run(tmp_path):
    for number, name in enumerate(("b-first", "a-second")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.npz").touch()
        (tmp_path / name / "config.toml").touch()
        os.utime(tmp_path / name / "config.toml", (number, number))
    assert saved_model(tmp_path / "b-first") == tmp_path / "b-first" / "model.npz"
    assert saved_model(Path("last")) == tmp_path / "a-second" / "model.npz"
    with pytest.raises(RunDirectoryError, match=r"holds no model\.npz: name the directory"):
        saved_model(tmp_path)


def test_a_link_in_a_run_is_followed_only_if_named_itself(tmp_path):
    (tmp_path / "elsewhere").write_text(CONFIG.to_toml())
    for name in ("config.toml", "model.npz"):
        (tmp_path / name).symlink_to("elsewhere")
    with pytest.raises(ConfigError, match=r"config\.toml: is a link"):
        resolve(resume=tmp_path)
    with pytest.raises(RunDirectoryError, match="is a link"):
        saved_model(tmp_path)
    assert saved_model(tmp_path / "model.npz").exists()


# The time written in a run decides which is newest, not file times.


def make(path, written=None, changed=1):
    path.mkdir()
    text = "" if written is None else f"# written {written}Z by dct\n"
    (path / "config.toml").write_text(text + CONFIG.to_toml())
    os.utime(path / "config.toml", (changed, changed))
    return path


def test_a_pipe_in_one_place_does_not_hide_the_others(tmp_path):
    run = make(tmp_path / "run")
    (tmp_path / "odd").mkdir()
    os.mkfifo(tmp_path / "odd" / "config.toml")
    assert RunDirectory.named("last").path == run
    with pytest.raises(RunDirectoryError, match=r"its config\.toml is not a regular file"):
        RunDirectory.named(tmp_path / "odd")


def test_an_unreadable_directory(tmp_path, monkeypatch):
    """It is an error if named, or if it may be the newest."""
    mine = make(tmp_path / "mine", changed=1000)
    theirs = make(tmp_path / "theirs", "3000-01-01")
    os.utime(theirs, (10, 10))
    look = os.stat

    def guarded(path, **more):
        if str(path).startswith(f"{theirs}/"):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, **more)

    monkeypatch.setattr(os, "stat", guarded)
    with pytest.raises(UnreadableError, match=r"config\.toml: cannot be read: permission"):
        RunDirectory.named(theirs)
    assert RunDirectory.named("last").path == mine
    os.utime(theirs, (2000, 2000))
    with pytest.raises(UnreadableError, match="theirs/"):
        RunDirectory.named("last")
    monkeypatch.setattr(run_directory, "ROOT", mine / "config.toml")
    with pytest.raises(RunDirectoryError, match=r"toml: cannot be read: not a directory"):
        RunDirectory.named("last")


def test_a_future_file_time_does_not_count_and_a_run_of_the_future_is_named(tmp_path):
    make(tmp_path / "old", "2026-01-01T00:00:00.000000", changed=2**33)
    newest = make(tmp_path / "new", "2026-01-02T00:00:00.000000")
    assert RunDirectory.named("last").path == newest
    make(tmp_path / "future", "2999-12-31T00:00:00.000000")
    with pytest.raises(RunDirectoryError, match=r"future: was begun on .* in the future"):
        RunDirectory.named("last")


def test_the_written_time_is_read_back(tmp_path):
    before = datetime.now(UTC)
    run = RunDirectory.at(tmp_path / "run")
    write_config(run, CONFIG)
    assert before <= run.begun <= datetime.now(UTC)
    assert read_config(run) == CONFIG


@pytest.mark.parametrize("written", ["9999-99-99T99:99:99", "2026", "0000-00-00T00:00:00.1"])
def test_an_invalid_time_is_ignored(tmp_path, written):
    run = make(tmp_path / "run", written, changed=86400)
    assert RunDirectory(run).begun == datetime(1970, 1, 2, tzinfo=UTC)


def test_a_sweep_is_known_and_says_which_runs_it_holds(tmp_path):
    """The last one may be a sweep; what needs one run names one of it."""
    sweep = RunDirectory(tmp_path / "sweep")
    runs = [sweep.path / name / "seed3" for name in ("batch=2", "batch=4")]
    for run in (tmp_path / "a", *runs):
        run.parent.mkdir(parents=True, exist_ok=True)
        make(run)
    (sweep.path / "batch=2" / "link").symlink_to(tmp_path / "a")
    (sweep.path / "link").symlink_to(tmp_path)
    (sweep.path / "batch=2" / "odd").mkdir()
    sweep.sweep.write_text("")
    assert [run.path for run in sweep.runs] == runs
    assert RunDirectory.named("last", sweeps=True).path == sweep.path
    said = re.escape(f"sweep: is a sweep: name one of its runs, such as {runs[0]}; dct runs ")
    for find in (RunDirectory.named, lambda name: saved_model(Path(name))):
        for name in (sweep.path, "last"):
            with pytest.raises(RunDirectoryError, match=said):
                find(name)
