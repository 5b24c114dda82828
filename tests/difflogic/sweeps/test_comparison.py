"""Comparisons of settings on the same seeds, beside all resamples that there are."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.sweeps.comparison import compare, median
from difflogic.sweeps.sweep_results import Row, wilson_interval


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
    rows += [row("b", seed, 100 * seed - 7, gates=6) for seed in range(1, 6)]
    rows += [
        row("b", 6, None, None, "failed", None),
        row("b", 7, None, status="not exact"),
        row("b", 8, None, None, "missing", None),
        row("b", 9, 5000),
    ]
    first, second = compare(plan, rows)
    assert (first.seeds, first.proved, first.changes) == (8, 8, {"epochs": None, "gates": None})
    assert first.medians["epochs"].value == 450
    assert (second.seeds, second.proved) == (7, 5), "seed 9 has no partner, and seed 8 is missing"
    assert second.share == pytest.approx((5 / 7, *wilson_interval(5, 7)))
    assert second.changes == {"epochs": (-7, -7, -7), "gates": (1, 1, 1)}
    assert second.medians["epochs"].low < second.medians["epochs"].value == 293
    nothing = compare(plan, rows[:2])[1]
    assert (nothing.seeds, nothing.medians["gates"], nothing.changes["gates"]) == (0, None, None)
