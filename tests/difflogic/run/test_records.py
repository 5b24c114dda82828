"""Runs are compared as plain Python over the same numbers says."""

import json

import pytest

import difflogic
from difflogic.library.training import train
from difflogic.run import records
from difflogic.system.errors import RunDirectoryError
from tests.cli.conftest import TINY
from tests.difflogic.library.many_runs import make_run

SEEDS = range(4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "run"
    train("checkerboard", [*TINY, "training.seed=5", "training.epochs=3"], directory=path)
    return path


@pytest.fixture
def root(trained, tmp_path):
    for seed in SEEDS:
        make_run(
            trained, tmp_path / f"run{seed}", 1 + seed, seed % 3 > 0, seed=seed, batch=2 + seed % 2
        )
    return tmp_path


def test_settings_that_differ(root, trained):
    found = difflogic.runs(root)
    assert found.settings == ("training.batch",)
    assert [run["training.batch"] for run in found] == [2 + seed % 2 for seed in SEEDS]
    assert [run["verdict"] for run in found] == ["not exact", "proved", "exact", "late"]
    assert "<table>" in found._repr_html_()
    other = train("game-of-life", ["training.epochs=1"], directory=root / "life").path
    assert difflogic.runs(root).settings == ("training.batch",)
    across = difflogic.runs([root / "run1", other])
    assert {"task.kind", "automaton.channels"} < set(across.settings)
    assert [run["task.kind"] for run in across] == ["checkerboard", "life"]
    with pytest.raises(RunDirectoryError, match="no such run"):
        difflogic.runs([root / "absent"])


def test_a_run_is_described_beside_the_shipped_settings(root):
    found = records.describe(root / "run3")
    assert found.changed["training.batch"][1] == 3
    assert found.changed["task.height"] == (16, 4)
    assert "training.seed" not in found.changed
    assert found.summary == json.loads((root / "run3" / "summary.json").read_text())
    assert {"config.toml", "metrics.csv", "model.npz", "summary.json"} < found.files.keys()
