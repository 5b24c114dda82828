"""Following runs and sweeps by their directories: complete, incomplete or damaged."""

import shutil

import pytest

import difflogic
from difflogic.training.session import execute
from difflogic.verification.case import UNEVEN
from difflogic.view.watching import Feed
from difflogic.view.watching.follower import Follower

SMALL = (*UNEVEN, "training.seed=36", "training.epochs=3")


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
    assert feed.snapshot.status == "waiting"
    lines = (aside / "metrics.csv").read_text().splitlines(keepends=True)
    (run / "metrics.csv").write_text("".join(lines[:2]) + lines[2][:7])
    feed.since(0)
    assert (feed.snapshot.status, len(feed.snapshot.rows)) == ("running", 1)
    (run / "model.npz").write_bytes((aside / "model.npz").read_bytes()[:100])
    feed.since(0)
    assert feed.snapshot.model is None, "half written"
    for name in ("metrics.csv", "model.npz", "summary.json"):
        shutil.copy(aside / name, run / name)
    feed.since(0)
    assert (feed.snapshot.status, len(feed.snapshot.rows)) == ("finished", 3)
    assert feed.snapshot.model is not None


def test_a_link_is_not_followed(run, tmp_path):
    (tmp_path / "elsewhere.csv").write_bytes((run / "metrics.csv").read_bytes())
    (run / "metrics.csv").unlink()
    (run / "metrics.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert not followed(run).snapshot.rows


def test_a_sweep_shows_its_newest_run_and_lists_all(tmp_path):
    difflogic.sweep(
        "checkerboard-small",
        difflogic.SweepOptions(
            "0-1",
            overrides=SMALL,
            grid=["training.batch=1,2"],
            directory=tmp_path / "sweep",
            backend="sequential",
        ),
    )
    snapshot = followed(tmp_path / "sweep").snapshot
    assert [(variant, seed) for variant, seed, _, _ in snapshot.runs] == [
        (f"batch={batch}", seed) for batch in (1, 2) for seed in ("0", "1")
    ]
    assert all(state.startswith("finished") for _, _, state, _ in snapshot.runs)
    assert snapshot.run.startswith(str(tmp_path / "sweep"))
    (shown,) = (run for run in snapshot.runs if run[2].endswith(", shown above"))
    assert snapshot.model.config.training.batch == int(shown[0][-1])
    assert snapshot.model.config.training.seed == int(shown[1])
