"""Amdahl's law, fitted to speed-ups."""

from math import inf

import pytest

from difflogic.scale.speed.laws import Amdahl, fit


@pytest.mark.parametrize("serial", [0.0, 0.001, 0.25, 0.9, 1.0])
def test_amdahls_law_is_recovered(serial):
    speedups = {count: 1 / (serial + (1 - serial) / count) for count in (16, 1, 2, 4, 8)}
    found = fit(speedups)
    assert found.serial == pytest.approx(serial, abs=1e-12)
    assert found.workers == (1, 2, 4, 8, 16)
    assert found.limit == pytest.approx(1 / serial if serial else inf)
    assert [found.speedup(count) for count in speedups] == pytest.approx([*speedups.values()])


def test_the_fit_is_the_least_square():
    """A finer search finds no better share; two workers that do more than twice as much count."""
    measured = {1: 1.0, 2: 1.6, 4: 1.2, 8: 2.5}

    def missed(serial):
        law = Amdahl(serial)
        return sum((n / s - n / law.speedup(n)) ** 2 for n, s in measured.items())

    best = min((step / 10_000 for step in range(10_001)), key=missed)
    assert fit(measured).serial == pytest.approx(best, abs=1e-4)
    assert fit({1: 1.0, 2: 2.2, 4: 4.1}).serial == 0
    assert fit({1: 1.0}) is fit({}) is None
