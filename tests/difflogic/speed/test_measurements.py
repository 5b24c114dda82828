"""Rows that are measured in turn: their numbers, and that they must be equal."""

import pytest

from difflogic.speed import measurements
from difflogic.speed.benchmark import compare
from difflogic.speed.measurements import measure, of_workers, ratio
from difflogic.system.errors import ConfigError
from tests.difflogic.training.tiny import tiny

pytestmark = pytest.mark.once

CONFIG = tiny("training.batch=4")


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(measurements, "cpu_count", lambda: 2)


def test_rows_of_worker_counts_give_the_same_bits(monkeypatch, two_cores):
    monkeypatch.setattr(measurements, "fma_rate", lambda threads: 1e9 * threads)
    found = measure(of_workers(CONFIG, (1, 2, 3)), 2)
    assert found.equal
    assert [row.difference for row in found.rows] == [None, 0.0, 0.0]
    assert [row.workers for row in found.rows] == [1, 2, 3]
    assert [row.peak for row in found.rows] == [1e9, 2e9, None]
    first = found.rows[0]
    assert first.speedup(first) == first.efficiency(first) == 1
    first.steps[:] = [3.0, 3.0]
    found.rows[1].steps[:] = [2.0, 2.0]
    assert (found.rows[1].speedup(first), found.rows[1].efficiency(first)) == (1.5, 0.75)
    for row in found.rows:
        assert len(row.steps) == len(row.phases["backward"]) == 2
        assert len(row.losses) == measurements.WARM_UP_STEPS + 4
        assert 0 <= row.waiting <= 1
    data = found.as_dict()["rows"]
    assert [row["plan"]["workers"] for row in data] == [1, 2, 3]


def test_a_ratio_is_the_median_of_pairs():
    # A machine that becomes ten times slower in between changes no ratio.
    assert ratio([2.0, 20.0, 21.0], [1.0, 10.0, 10.0]) == 2.0
    assert ratio([1.0, 1.0], [0.0, 0.5]) == 2.0
    assert ratio([1.0], [0.0]) is None
    with pytest.raises(ValueError, match="longer"):
        ratio([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "compare one thing"),
        ({"workers": (1,), "ways": ("cells",)}, "compare one thing"),
        ({"workers": (0, 1)}, "from 1 to 1024"),
        ({"workers": (1, 2), "repeat": 0}, "at least 1"),
        ({"workers": tuple(range(1, 100))}, "99 settings are too many: compare at most 64"),
    ],
)
def test_impossible_comparisons_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        compare(CONFIG, **arguments)
