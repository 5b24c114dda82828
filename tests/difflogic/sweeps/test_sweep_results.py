"""Summaries become rows, results of variants, and tables."""

import csv
import io
import statistics

import pytest

from difflogic.sweeps.sweep_plan import Request, make_plan
from difflogic.sweeps.sweep_results import (
    aggregate,
    make_row,
    to_cells,
    to_csv,
    to_data,
    wilson_interval,
)
from tests.difflogic.run.summaries import summary
from tests.difflogic.sweeps.small import small_plan

OPEN = {"verdict": "open", "text": "not proved", "from_step": None}
LATE = {"text": "proved for every start from step 25 on", "from_step": 25}


def ended(exact, exact_epoch=None, *, gates=10, seconds=1.0, assurance=OPEN, **more):
    checked = {"exact": exact, "wrong_cells": 0 if exact else 5, "active_gates": gates}
    scores = {"checked": checked, "assurance": assurance}
    more = {"epochs": 20, "seconds": {"all": seconds, "processor": 1.5}} | more
    return summary(exact_epoch=exact_epoch, scores=scores, **more)


@pytest.fixture
def plan():
    return small_plan("training.weight_decay=0.0,0.5", seeds=(0, 1, 2, 3, 4, 5))


@pytest.fixture
def rows(plan):
    first, second = plan.variants
    more = {"attempts": {"begun": 3, "result": 3}}
    summaries = [
        ended(True, 12, gates=22, assurance={}, **more),
        ended(True, epochs=18, gates=30, seconds=2.0),
        ended(False, 5, gates=99, seconds=7.0, assurance=LATE),  # it stays, but too late
        None,
        ended(False, finished=False),
        None,
    ]
    errors = {3: "the loss is not finite\nmore | of it"}
    return [
        *(make_row(first, seed, each, errors.get(seed)) for seed, each in enumerate(summaries)),
        *(make_row(second, seed, None) for seed in plan.seeds),
    ]


def test_rows(rows):
    ends = ["exact", "exact", "not exact", "failed", "missing", "missing"]
    assert [row.status for row in rows[:6]] == ends
    # The first verified epoch, else the last; none for a run that lost exactness again.
    assert [row.epochs_to_exact for row in rows[:4]] == [12, 18, None, None]


def test_results_count_failed_runs_and_leave_out_missing_ones(plan, rows):
    first, second = aggregate(plan, rows)
    assert (first.exact, first.seeds, first.failed, first.missing) == (2, 4, 1, 2)
    assert to_data(plan, rows)["variants"][0]["proved"] == first.proved == 1
    assert (first.exact_low, first.exact_high) == wilson_interval(2, 4)
    assert first.epochs_to_exact == statistics.median([12, 18])
    assert (first.epochs_to_exact_min, first.epochs_to_exact_max) == (12, 18)
    assert first.active_gates == 26  # of the exact runs
    assert (first.seconds, first.seconds_total) == (2.0, 10.0)
    assert first.processor_seconds == 1.5
    assert (first.from_step, first.from_step_min, first.from_step_max) == (18, 18, 18)
    assert second.processor_seconds is second.from_step is None
    assert (second.exact, second.seeds, second.missing) == (0, 0, 6)
    assert second.epochs_to_exact is second.active_gates is second.seconds is None


def test_the_csv_has_a_line_per_run(plan, rows):
    lines = list(csv.DictReader(io.StringIO(to_csv(plan, rows))))
    assert len(lines) == len(rows)
    for line, run in zip(lines, to_data(plan, rows)["runs"], strict=True):
        assert line == {
            key: "" if value is None else str(value).replace("True", "true").replace("Fal", "fal")
            for key, value in (run | run.pop("values")).items()
        }
    assert (lines[4]["proved"], lines[4]["assurance"]) == ("", "")
    assert lines[3]["error"].startswith("the loss is not finite")


def test_cells_of_a_variant(plan, rows):
    first, second = (to_cells(plan, result) for result in aggregate(plan, rows))
    ends = ["15 to 85 %", "15 (12 to 18)", "26", "18", "2.0", "1.5"]
    assert first[:9] == ["0.0", "2/4", "1/4", *ends]
    assert second[:9] == ["0.5", "0/0", "0/0", *["-"] * 6]


def test_pictures_are_shown_by_their_names(tmp_path):
    target = tmp_path / "dot.txt"
    target.write_text("...\n.#.\n...\n")
    plan = make_plan(Request("lizard", (), (f"task.target=lizard,{target}",)), (0,))
    rows = [make_row(variant, 0, None) for variant in plan.variants]
    found = [to_cells(plan, result)[0] for result in aggregate(plan, rows)]
    assert found == ["lizard", "dot.txt"]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 16, 1000])
def test_the_interval_is_what_scipy_computes(trials, confidence):
    from scipy.stats import binomtest  # takes a second

    for successes in {0, 1, trials // 3, trials}:
        expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
        found = wilson_interval(successes, trials, confidence)
        assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson_interval(0, 0) == (0.0, 1.0)
