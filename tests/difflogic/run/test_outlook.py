"""What runs usually take."""

import pytest

from difflogic.config import load_config
from difflogic.run import records
from difflogic.run.records import beside_usual, in_words, usual, usual_of
from tests import results


def test_shipped_settings_have_the_figures_of_the_pages(tmp_path):
    rows = results.read()
    for name in ("lizard", "letter-g", "game-of-life"):
        row = rows[name]
        known = usual(load_config(name), tmp_path / "run")
        assert known.epochs[0] == float(row["epochs_min"])
        assert known.seconds[1] == min(float(row["seconds_max"]), 2 * float(row["seconds"]))
    assert usual(load_config("lizard", ["training.seed=3", "parallel.workers=1"]), tmp_path / "run")
    assert usual(load_config("lizard", ["training.batch=3"]), tmp_path / "run") is None


def test_a_row_that_is_not_measured_yet_tells_nothing(tmp_path, monkeypatch):
    keys = ",".join(f"{key}{end}" for key in ("epochs", "seconds") for end in ("_min", "", "_max"))
    (tmp_path / "runs.csv").write_text(f"name,{keys}\nlizard,,,,,,\n", encoding="utf-8")
    monkeypatch.setattr(records, "_measured", lambda: tmp_path / "runs.csv")
    assert usual(load_config("lizard"), tmp_path / "run") is None


def test_a_few_runs_tell_what_is_usual():
    assert usual_of([(10, 1.0), (20, 2.0)]) is None
    assert usual_of([(10, 1.0), (20, 2.0), (90, 3.0)]).epochs == (10, 40), "a slow run is no rule"
    assert usual_of([(10, 1.0), (20, 2.0), (90, 3.0)]).seconds == (1.0, 3.0)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((9.3, 35.2), "9 to 35 s"),
        ((0.5, 2.6), "1 to 3 s"),
        ((3.6, 4.4), "about 4 s"),
        ((100.0, 250.0), "2 to 4 min"),
        ((3000.0, 9000.0), "1 to 2 h"),
    ],
)
def test_ranges_in_words(seconds, said):
    assert in_words(seconds) == said
    assert beside_usual(seconds[1], seconds) == f"{seconds[1]:.0f} s of usually {said}"
    assert beside_usual(9999.0, seconds) == "9999 s, longer than usual"
