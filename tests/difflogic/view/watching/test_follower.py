"""Following runs by their directories: complete, incomplete or damaged."""

import shutil

import pytest

import difflogic
from difflogic.experiment.session import execute
from difflogic.run.lock import RunLock
from difflogic.run.records import list_runs
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary, write_summary
from difflogic.verification.case import UNEVEN
from difflogic.view.watching import Feed
from difflogic.view.watching.follower import Follower

UNSEEDED = (*UNEVEN, "training.epochs=3")
SMALL = (*UNSEEDED, "training.seed=36")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run"
    execute(difflogic.load_config("checkerboard-small", SMALL), path)
    return path


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


def followed(path):
    feed = Feed(Follower(path))
    feed.since(0)
    return feed


def test_missing_files_are_found_later(run, tmp_path):
    aside = shutil.copytree(run, tmp_path / "aside")
    for name in ("metrics.csv", "model.npz", "summary.json"):
        (run / name).unlink()
    feed = followed(run)
    assert feed.snapshot.state == "stopped"
    lines = (aside / "metrics.csv").read_text().splitlines(keepends=True)
    (run / "metrics.csv").write_text("".join(lines[:2]) + lines[2][:7])
    feed.since(0)
    assert (feed.snapshot.state, len(feed.snapshot.rows)) == ("stopped", 1)
    (run / "model.npz").write_bytes((aside / "model.npz").read_bytes()[:100])
    feed.since(0)
    assert feed.snapshot.model is None, "half written"
    for name in ("metrics.csv", "model.npz", "summary.json"):
        shutil.copy(aside / name, run / name)
    feed.since(0)
    assert (feed.snapshot.state, len(feed.snapshot.rows)) == ("finished", 3)
    assert feed.snapshot.model is not None


def test_a_link_is_not_followed(run, tmp_path):
    (tmp_path / "elsewhere.csv").write_bytes((run / "metrics.csv").read_bytes())
    (run / "metrics.csv").unlink()
    (run / "metrics.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert not followed(run).snapshot.rows


def test_page_and_list_say_one_state(trained, tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    assert followed(path).snapshot.state == "waiting"
    shutil.copytree(trained, path, dirs_exist_ok=True)
    run = RunDirectory(path)
    ended = read_summary(run)

    def told():
        (listed,) = list_runs(tmp_path)
        state = followed(path).snapshot.state
        assert state == listed.columns["state"]
        return state

    assert told() == "finished"
    for stopped in (None, {"finished": False, "interrupted": True}):
        run.summary.unlink(missing_ok=True)
        if stopped:
            write_summary(run, ended.model_copy(update=stopped))
        assert told() == "stopped", "killed without a summary, or stopped"
        with RunLock(path):
            assert told() == "training", "begun, or resumed"
    feed = followed(path)
    shutil.rmtree(path)
    feed.since(0)
    assert feed.snapshot.state == "removed"
