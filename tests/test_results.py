"""The tables of results on the pages are those that docs/results/runs.csv makes."""

import random
import re
import statistics
import subprocess

import pytest

from difflogic.system.jit.processor import fuses
from tests import results
from tests.test_documents import USER_PAGES

ROWS = results.read()
VALUES = {name: results.values_of(row) for name, row in ROWS.items()}

SECONDS = 10
"""CPU seconds of the rows that the day of a commit draws."""


def due():
    """Yield the names of some cheap rows, two trainings first: others by the day of the commit."""
    words = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(words, cwd=results.ROOT, capture_output=True, text=True, check=False)
    names, left = [name for name, row in ROWS.items() if float(row["cost"] or "inf") <= 4], SECONDS
    random.Random(int(done.stdout or 0) // 86400).shuffle(names)
    trained = [name for name in names if ROWS[name]["learned"]][:2]
    for name in dict.fromkeys(trained + names):
        left -= float(ROWS[name]["cost"])
        if left >= 0:
            yield name


@pytest.mark.thorough
@pytest.mark.skipif(not fuses(), reason="needs fused multiply-adds")
@pytest.mark.parametrize("name", list(due()))
def test_a_seed_gives_what_the_page_says(name):
    new = results.measure(ROWS[name])
    held = [key for key in results.FIGURES if not key.startswith("seconds")]
    said, found = ([(key, row[key]) for key in held] for row in (ROWS[name], new))
    pages = [page for page in results.PAGES if name in results.shown_in(page)]
    assert found == said, f"{pages}: python -m tests.results {name} --write"


@pytest.mark.parametrize("page", results.PAGES)
def test_a_page_shows_the_figures_of_the_file(page):
    text = (results.ROOT / "docs" / page).read_text(encoding="utf-8")
    assert text == results.filled(page, VALUES), "run: python -m tests.results --write NAME"


def test_every_row_is_shown_and_says_where_it_comes_from():
    assert set().union(*map(results.shown_in, results.PAGES)) == set(ROWS)
    for row in ROWS.values():
        assert row["processor"], row["name"]
        assert re.fullmatch(r"[0-9a-f]{7,40}|page at [0-9a-f]{7,40}", row["commit"]), row["name"]
        assert bool(row["date"]) == (not row["commit"].startswith("page at")), row["name"]
        assert 0 <= int(row["exact"]) <= int(row["runs"])


def test_marks_on_pages_name_tables():
    marks = {
        mark
        for page in USER_PAGES
        for mark in re.findall("^<!-- results: (.*) -->$", page.read_text("utf-8"), re.M)
    }
    assert marks == set(results.TABLES)


def test_figures_are_medians_and_ranges():
    verdicts = ["proved", "exact", "not exact", "proved", "late"]
    keys = ("verdict", "epochs", "gates", "processor_seconds", "learned")
    runs = [
        dict(zip(keys, (verdict, 10 * n, n + 0.5, n / 3, 100 - n), strict=True))
        for n, verdict in enumerate(verdicts)
    ]
    found = results.figures(runs)
    assert [found[name] for name in results.COUNTS] == ["5", "2", "3"]
    assert [found[f"epochs{end}"] for end in ("", "_min", "_max")] == ["20", "0", "40"]
    assert found["gates"] == f"{statistics.median(run['gates'] for run in runs):g}"
    assert found["seconds_max"] == "1.3"


@pytest.mark.thorough
def test_a_row_is_measured_by_its_command(capfd):
    command = (
        "for s in 1 2; do dct train checkerboard-small --seed $s --epochs 3 "
        "--set finishing.every=0 --set training.restart_every=0; done; test -d $PICTURES"
    )
    found = results.measure(ROWS["flood"] | {"command": command})
    assert (found["runs"], found["exact"], found["epochs"]) == ("2", "0", "3")
    assert found["processor"] == results.provenance()["processor"]
