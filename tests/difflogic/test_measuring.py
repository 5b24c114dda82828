from __future__ import annotations

from difflogic.measuring import Spread, peak_memory


def test_spread() -> None:
    spread = Spread((3.0, 1.0, 2.0, 10.0))
    assert (spread.minimum, spread.median, spread.maximum) == (1.0, 2.5, 10.0)
    assert spread.as_dict() == {"min": 1.0, "median": 2.5, "max": 10.0}


def test_peak_memory_is_that_of_this_process() -> None:
    peak = peak_memory()
    assert peak is None or 1e7 < peak < 1e11
