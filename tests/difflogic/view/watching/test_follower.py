"""Following runs and sweeps by their directories: complete, incomplete or damaged."""

import os
import shutil
from contextlib import ExitStack

import pytest

import difflogic
from difflogic.experiment.session import execute
from difflogic.run.lock import RunLock
from difflogic.run.records import list_runs
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary, write_summary
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.sweep_plan import Request, make_plan
from difflogic.verification.case import UNEVEN
from difflogic.view.watching import Feed
from difflogic.view.watching.follower import Follower
from difflogic.view.watching.news import news

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


def test_a_sweep_stays_with_a_run_until_it_ends_or_another_is_chosen(trained, tmp_path):
    directory = SweepDirectory(tmp_path)
    plan = make_plan(Request("checkerboard-small", SMALL, ()), (0, 1, 2))
    directory.write_plan(plan)
    (variant,) = plan.variants
    places = [directory.run_path(variant, seed) for seed in range(3)]
    for place in places:
        shutil.copytree(trained, place)
    feed = Feed(Follower(tmp_path))

    def shown(chosen=None):
        feed.since(0, chosen)
        return feed.snapshot.shown

    with RunLock(places[2]), ExitStack() as first:
        first.enter_context(RunLock(places[0]))
        os.utime(places[0] / "metrics.csv", (9e9, 9e9))
        assert shown() == 0
        os.utime(places[2] / "metrics.csv", (9.5e9, 9.5e9))
        assert shown() == 0, "another run has saved since"
        first.close()
        assert shown() == 2
        assert dict(news(feed.snapshot)["facts"])["run"] == f"{variant.name}, seed 2"
        assert shown(1) == 1
    assert (shown(), feed.snapshot.state) == (1, "finished")
    listed = [(variant.name, str(seed), "finished") for seed in range(3)]
    assert [row[:3] for row in feed.snapshot.runs] == listed
    assert feed.snapshot.run == str(places[1])
