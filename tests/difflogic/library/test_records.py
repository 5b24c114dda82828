"""Runs are found, sorted and compared as plain Python over the same numbers says."""

import json

import pytest

import difflogic
from difflogic.library import records
from difflogic.library.training import train
from difflogic.system.errors import ConfigError, RunDirectoryError
from tests.cli.conftest import TINY
from tests.difflogic.library.many_runs import make_run

SEEDS = range(12)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "run"
    train("checkerboard", [*TINY, "training.seed=5", "training.epochs=3"], directory=path)
    return path


@pytest.fixture
def root(trained, tmp_path):
    for seed in SEEDS:
        made = make_run(
            trained, tmp_path / f"run{seed}", 1 + seed, seed % 3 > 0, seed=seed, batch=2 + seed % 2
        )
        records.annotate(made, f"Nummer {seed}", ["even"] if seed % 2 == 0 else [])
    return tmp_path


CONDITIONS = {
    "seed>=10": lambda seed: seed >= 10,
    " seed < 3 ": lambda seed: seed < 3,
    "seed!=4": lambda seed: seed != 4,
    "training.batch=3": lambda seed: seed % 2 == 1,
    "gates<=1": lambda seed: seed % 5 <= 1,
    "seconds>95.5": lambda seed: seed < 4.5,
    "verdict=proved": lambda seed: seed % 2 == 1 and seed % 3 > 0,
    "verdict=late": lambda seed: seed % 2 == 1 and seed % 3 == 0,
    "not exact": lambda seed: seed % 2 == 0 and seed % 3 == 0,
    "NUMMER 11": lambda seed: seed == 11,
    "even": lambda seed: seed % 2 == 0,
    "wiring=moore": lambda seed: True,
    "attempts=none": lambda seed: False,
    "age>1d": lambda seed: True,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(root, condition):
    found = [run["seed"] for run in difflogic.runs(root, where=[condition])]
    assert found == list(filter(CONDITIONS[condition], SEEDS))


def test_several_conditions_a_tag_and_an_order(root):
    found = difflogic.runs(root, where=["seed>1", "gates>0"], tag="even", sort="-gates")
    expected = [seed for seed in SEEDS if seed > 1 and seed % 5 > 0 and seed % 2 == 0]
    assert [run["seed"] for run in found] == sorted(expected, key=lambda seed: -(seed % 5))
    assert found.settings == ()  # all of these have the same batch
    assert "<table>" in found._repr_html_()
    (root / "run3" / "summary.json").unlink()
    for sign in ("", "-"):
        assert difflogic.runs(root, sort=f"{sign}gates")[-1]["gates"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": ["sed>3"]}, 'no column or setting "sed": did you mean "seed"'),
        ({"where": ["batch>2"]}, r"name one of training\.batch, pool\.batch"),
        ({"where": ["seed>many"]}, "> compares with a number, such as seed>10"),
        ({"sort": "gatess"}, 'did you mean "gates"'),
    ],
)
def test_refusals(root, options, message):
    with pytest.raises(ConfigError, match=message):
        difflogic.runs(root, **options)


def test_settings_that_differ(root, trained):
    found = difflogic.runs(root)
    assert found.settings == ("training.batch",)
    assert [run["training.batch"] for run in found] == [2 + seed % 2 for seed in SEEDS]
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
    assert found.files.keys() == {"config.toml", "summary.json", "note.json"}


def test_notes_are_changed_in_part(root):
    run = root / "run3"
    assert records.annotate(run, tags=["a", "b", "a"]).text == "Nummer 3"
    assert records.annotate(run, "other", without=["a"]).tags == ["b"]
    (run / "note.json").write_text("{")
    with pytest.raises(RunDirectoryError, match="is damaged"):
        records.annotate(run, tags=["c"])
    assert records.annotate(run, "whole again").tags == []
    for tag in ("a b", "", "x" * 41, "a/b"):
        with pytest.raises(ConfigError, match="must be letters, digits"):
            records.annotate(run, tags=[tag])


def test_every_column_can_be_named(root):
    (run, *_) = difflogic.runs(root)
    for key in run:
        records.runs(root, sort=key, where=[f"{key}!=nothing"])
