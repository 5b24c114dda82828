"""The Wilson interval, against scipy's."""

import pytest
from scipy.stats import binomtest

from difflogic.scale.sweeps.statistics import wilson_interval


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 16, 32, 1000])
def test_it_is_what_scipy_computes(trials, confidence):
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
        low, high = wilson_interval(successes, trials, confidence)
        assert low == pytest.approx(expected.low, abs=1e-12)
        assert high == pytest.approx(expected.high, abs=1e-12)


def test_nothing_known_is_anything():
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "trials"), [(2, 1), (-1, 3)])
def test_impossible_counts(successes, trials):
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(successes, trials)
