from types import SimpleNamespace

import pytest

from difflogic.speed import spread as spread_module
from difflogic.speed.spread import Spread, fastest_rate


def test_spread():
    spread = Spread((3.0, 1.0, 2.0, 10.0))
    assert (spread.minimum, spread.median, spread.maximum) == (1.0, 2.5, 10.0)
    assert spread.as_dict() == {"min": 1.0, "median": 2.5, "max": 10.0}


def test_the_fastest_of_many_bursts_counts(monkeypatch):
    now = [0.0]
    calls = []

    def run(rounds):
        calls.append(rounds)
        slow = 1 + len(calls) % 3  # as if other programs were running
        now[0] += 1e-6 * rounds * slow

    monkeypatch.setattr(spread_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    assert fastest_rate(run, bursts=6) == pytest.approx(1e6)
    assert calls[0] == 1000
    assert calls[-1] * 1e-6 >= spread_module.BURST / 3
    assert len(set(calls[-6:])) == 1
