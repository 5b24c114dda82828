"""Scaling laws, fitted to speed-ups."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.scale.speed.laws import Amdahl, Scalability, fit

COUNTS = (1, 2, 4, 8, 16)


@settings(max_examples=5)
@given(st.floats(0.001, 0.9))
def test_amdahls_law_is_recovered(serial):
    found = fit({count: Amdahl(serial).speedup(count) for count in COUNTS})
    assert found.amdahl.serial == pytest.approx(serial, abs=1e-4)
    assert found.amdahl.limit == pytest.approx(1 / serial, rel=0.1)
    # It equals the other law without coherency.
    assert found.scalability.contention == pytest.approx(serial, abs=1e-3)


@settings(max_examples=5)
@given(st.floats(0, 0.5), st.floats(0.002, 0.1))
def test_the_universal_scalability_law_is_recovered(contention, coherency):
    law = Scalability(contention, coherency)
    found = fit({count: law.speedup(count) for count in COUNTS})
    assert found.scalability.contention == pytest.approx(contention, abs=5e-3)
    assert found.scalability.coherency == pytest.approx(coherency, abs=1e-3)
    best = max(range(1, 200), key=law.speedup)
    assert found.best is not None
    assert law.speedup(found.best) == pytest.approx(law.speedup(best), rel=1e-3)


def test_few_worker_counts_fit_fewer_laws():
    assert fit({1: 1.0}).amdahl is None
    two = fit({1: 1.0, 2: 1.6})
    assert two.amdahl.serial == pytest.approx(0.25)
    assert two.scalability is None
    assert two.best is None
    assert two.workers == (1, 2)
    assert fit({1: 1.0, 2: 1.6, 4: 1.2}).best == 2


def test_perfect_scaling_has_no_limit():
    found = fit({count: float(count) for count in COUNTS})
    assert found.amdahl.serial == pytest.approx(0, abs=1e-6)
    assert found.best is None or found.best > 100
    assert Amdahl(0.0).limit == Scalability(0.1, 0.0).best == inf


def test_neither_law_has_a_negative_share():
    """If two workers do more than twice as much, nothing is serial."""
    found = fit({1: 1.0, 2: 2.2, 4: 3.0})
    assert found.amdahl.serial >= 0
    assert found.scalability.contention == 0
    assert found.scalability.coherency > 0
