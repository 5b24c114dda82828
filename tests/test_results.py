"""The tables of results on the pages are those that docs/results/runs.csv makes."""

import os
import random
import re
import statistics
from unittest.mock import MagicMock

import pytest

from tests import results
from tests.marks import fused
from tests.test_documents import USER_PAGES

SAID = {os.path.relpath(page, results.DOCS) for page in USER_PAGES}
SAID -= {"../CHANGELOG.md", "configuration.md"}  # history, and what the program writes

ROWS = results.read()
VALUES = {name: results.values_of(row) for name, row in ROWS.items()}

SEEDS = results.seeds()

SECONDS = 10
"""CPU seconds of the rows that the day of a commit draws."""


def due():
    """Yield the names of some cheap rows, two trainings first: others by the day of the commit."""
    names = [name for name, row in ROWS.items() if float(row["cost"] or "inf") <= 4]
    left = SECONDS
    random.Random(results.day()).shuffle(names)
    trained = [name for name in names if ROWS[name]["learned"]][:2]
    for name in dict.fromkeys(trained + names):
        if float(ROWS[name]["cost"]) <= left:
            left -= float(ROWS[name]["cost"])
            yield name


@pytest.mark.thorough
@fused
@pytest.mark.parametrize("name", list(due()))
def test_a_seed_gives_what_the_page_says(name):
    new = results.measure(ROWS[name])
    held = [key for key in results.FIGURES if not key.startswith("seconds")]
    said, found = ([(key, row[key]) for key in held] for row in (ROWS[name], new))
    pages = [page for page in results.PAGES if name in results.shown_in(page)]
    assert found == said, f"{pages}: python -m tests.results {name} --write"


@pytest.mark.thorough
@fused
@pytest.mark.parametrize("name", results.HEADLINES)
def test_a_seed_of_the_readme_ends_as_before(name):
    """Of the quarter of the seeds that take fewest epochs, another each day."""
    short = sorted(SEEDS[name], key=lambda run: run["epochs"])[: len(SEEDS[name]) // 4 + 1]
    run = random.Random(results.day()).choice(short)
    command = f"dct sweep {name} --seeds {run['seed']}"
    assert results.measure(ROWS[name] | {"command": command})["seeds"] == [run]


@pytest.mark.parametrize("name", results.HEADLINES)
def test_the_figures_of_the_readme_are_of_its_seeds(name):
    made = results.figures([{**run, "processor_seconds": 0} for run in SEEDS[name]])
    held = [key for key in results.FIGURES[:-1] if not key.startswith("seconds")]
    assert {key: made[key] for key in held} == {key: ROWS[name][key] for key in held}
    first, last = map(int, ROWS[name]["command"].split()[-1].split("-"))
    assert [run["seed"] for run in SEEDS[name]] == list(range(first, last + 1))


@pytest.mark.parametrize("page", results.PAGES)
def test_a_page_shows_the_figures_of_the_file(page):
    text = (results.DOCS / page).read_text("utf-8")
    assert text == results.filled(page, VALUES), "run: python -m tests.results --write NAME"


def test_every_row_is_shown_and_says_where_it_comes_from():
    assert set().union(*map(results.shown_in, results.PAGES)) == set(ROWS)
    for row in ROWS.values():
        assert row["processor"], row["name"]
        assert re.fullmatch(r"[0-9a-f]{7,40}|page at [0-9a-f]{7,40}", row["commit"]), row["name"]
        assert bool(row["date"]) == bool(row["cost"]) == ("page" not in row["commit"]), row["name"]
        assert 0 <= int(row["exact"]) <= int(row["runs"])


NUMBER = r"\d+(?:[.,×]\d+|[   ]\d{3}\b)*(?:·10[⁰-⁹]+)?"
UNITS = (
    "attempts|billion|cases|cells|circuits|colours|epochs?|exact|films|flip-flops|gates?|hours?|inputs|[kMG]i?B|lines|others|pairs|pixels|"
    "LUTs|MHz|minutes?|ms|proved|right|rounds?|rules|runs|s|seconds?|seeds|starts|states|steps?|tasks|"
    "times|updates|windows|workers|wrong"
)
KINDS = "active|automaton|correct|CPU|evaluated|held-out|learned|processor|single|wrong"
MEASURED = re.compile(
    rf"(?<![\w.,×·^#/-])(?<![-+≥≤] ){NUMBER}(?: (?:to|and|or|in) {NUMBER})?"
    rf"\s(?:%|(?:(?:{KINDS}) )?(?:{UNITS})\b|of (?:the )?{NUMBER})|(?<=\| ){NUMBER}(?=[ ;,])"
    rf"|(?:published:?|the article has|(?:at|in the) most|(?:more|fewer|less) than|up to|seen in) "
    rf"{NUMBER}"
)
"""A number before what it may count or measure, and one with which a cell of a table begins."""
ASIDE = re.compile(
    r"^<!-- results:[^\n]*\n(?:\|[^\n]*\n)*|^```.*?^```|^    dct .*?$|`[^`]*`|\]\([^)]*\)",
    re.M | re.S,
)
"""Tables of results, commands and code, and where links lead."""


FILLED = MagicMock()
"""Stands for all figures from rows, and for all of a row."""
FILLED.__str__.return_value = "…"
FILLED.__getitem__.return_value = FILLED


@pytest.mark.parametrize("page", sorted(SAID))
def test_no_measured_number_is_typed_by_hand(page):
    text = ASIDE.sub("`", results.filled(page, FILLED))
    if page in results.PRINTED:  # and compared with what is printed
        text = re.sub(r"^    .*$", "`", text, flags=re.M)
    for words in [each for pages in results.TYPED.values() for each in pages.get(page, ())]:
        rows = r".*\n(\|.*\n)*" if words[0] == "|" else ""
        text, count = re.subn(re.escape(words).replace(r"\ ", r"\s+") + rows, "…", text)
        assert count == 1, f"{count} times in {page}, but in [typed] of pages.toml: {words}"
    found = [text[max(0, each.start() - 40) : each.end()] for each in MEASURED.finditer(text)]
    assert not found, f"give {page}'s figures a row of runs.csv, and a sentence of pages.toml"


@pytest.mark.parametrize(
    "said", ["in 12 CPU seconds", "5 to 7.5 steps", "9 of the 10", "0.5 %", "| 1.2·10⁹ |", "3\nMB"]
)
def test_what_looks_measured(said):
    assert MEASURED.search(said)


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
