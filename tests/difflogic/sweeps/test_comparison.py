"""Comparisons of settings on the same seeds, beside all resamples that there are."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.sweeps.comparison import compare, median
from difflogic.sweeps.sweep_results import (
    Row,
    aggregate,
    to_cells,
    to_csv,
    to_data,
    wilson_interval,
)
from tests.difflogic.sweeps.small import small_plan


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=5))
def test_intervals_are_those_of_all_resamples(values):
    """The least and largest medians are drawn in 2000 resamples, if as many as one in forty."""
    every = np.sort([np.median(drawn) for drawn in product(values, repeat=len(values))])
    found = median(values)
    assert found.value == np.median(values)
    for bound, share in ((found.low, 0.025), (found.high, 0.975)):
        near = [np.quantile(every, q, method="lower") for q in (share - 0.015, share + 0.015)]
        assert near[0] <= bound <= np.quantile(every, share + 0.015, method="higher")
    assert found == median(values)


def row(variant, seed, epochs, gates=5, status="exact", proved=True):
    return Row(variant, {}, seed, status, epochs_to_exact=epochs, active_gates=gates, proved=proved)


def test_pairs_are_of_the_same_seed():
    plan = SimpleNamespace(variants=[SimpleNamespace(name="a"), SimpleNamespace(name="b")])
    rows = [row("a", seed, 100 * seed) for seed in range(1, 9)]
    rows += [row("b", seed, 100 * seed - 7, gates=6) for seed in range(1, 7)]
    rows += [
        row("b", 7, None, status="not exact"),
        row("b", 8, None, None, "missing", None),
        row("b", 9, 5000),
    ]
    first, second = compare(plan, rows)
    assert (first.seeds, first.proved, first.changes) == (8, 8, {"epochs": None, "gates": None})
    assert first.medians["epochs"].value == 450
    assert (second.seeds, second.proved) == (7, 6), "seed 9 has no partner, and seed 8 is missing"
    assert second.share == pytest.approx((6 / 7, *wilson_interval(6, 7)))
    assert second.changes == {"epochs": (-7, -7, -7), "gates": (1, 1, 1)}
    assert second.medians["epochs"].low < second.medians["epochs"].value == 343
    nothing = compare(plan, rows[:2])[1]
    assert (nothing.seeds, nothing.medians["gates"], nothing.changes["gates"]) == (0, None, None)


SEEDS = range(4)
PLAN = small_plan("training.weight_decay=0.0,0.5", seeds=tuple(SEEDS))
ENDED = st.sampled_from(["exact", "exact and proved", "not exact", "failed", "missing"])


def drawn(variant, seed, end):
    """A run's row as sweeps make them; only one that ended without failing has numbers."""
    if end in ("failed", "missing"):
        return Row(variant.name, variant.values, seed, end, error="broken" * (end == "failed"))
    epochs = 10 + seed if end.startswith("exact") else None
    status = end.removesuffix(" and proved")
    proved = end.endswith("proved")
    run = Row(variant.name, variant.values, seed, status, 20, epochs, 0, 5 + seed, proved=proved)
    return run


@given(st.lists(ENDED, min_size=8, max_size=8))
def test_tables_and_comparisons_count_as_documented(ends):
    """A failed run counts as a seed that is not exact; only missing ones do not count."""
    first, second = PLAN.variants
    of = {
        (v.name, seed): ends[4 * n + seed] for n, v in enumerate((first, second)) for seed in SEEDS
    }
    rows = [drawn(v, seed, of[v.name, seed]) for v in (first, second) for seed in SEEDS]
    data = to_data(PLAN, rows)
    for result, line, variant in zip(
        aggregate(PLAN, rows), data["variants"], PLAN.variants, strict=True
    ):
        counted = [seed for seed in SEEDS if of[variant.name, seed] != "missing"]
        exact = [seed for seed in counted if of[variant.name, seed].startswith("exact")]
        proved = [seed for seed in counted if of[variant.name, seed] == "exact and proved"]
        failed = [seed for seed in counted if of[variant.name, seed] == "failed"]
        assert (line["exact"], line["seeds"]) == (len(exact), len(counted))
        assert (line["proved"], line["failed"]) == (len(proved), len(failed))
        cells = to_cells(PLAN, result)
        assert cells[1:3] == [f"{len(n)}/{len(counted)}" for n in (exact, proved)]
        ended = [run for run in rows if run.variant == variant.name and run.status != "missing"]
        assert to_csv(PLAN, ended).count(",failed,") == len(failed)
    for compared, variant in zip(compare(PLAN, rows), (first, second), strict=True):
        both = [s for s in SEEDS if "missing" not in (of[first.name, s], of[variant.name, s])]
        proved = [seed for seed in both if of[variant.name, seed] == "exact and proved"]
        assert (compared.seeds, compared.proved) == (len(both), len(proved))
        assert compared.share[1:] == wilson_interval(len(proved), len(both))
        epochs = [10 + seed for seed in both if of[variant.name, seed].startswith("exact")]
        shown = compared.medians["epochs"]
        assert (shown and shown.value) == (np.median(epochs) if epochs else None)
