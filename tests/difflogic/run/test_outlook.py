"""What runs usually take."""

import pytest

from difflogic.run.records import beside_usual, in_words, usual_of


def test_a_few_runs_tell_what_is_usual():
    assert usual_of([(10, 1.0), (20, 2.0)]) is None
    assert usual_of([(10, 1.0), (20, 2.0), (90, 3.0)]).epochs == (10, 40), "a slow run is no rule"
    assert usual_of([(10, 1.0), (20, 2.0), (90, 3.0)]).seconds == (1.0, 3.0)


@pytest.mark.parametrize(
    ("seconds", "said"),
    {
        (9.3, 35.2): "9 to 35 s",
        (0.5, 2.6): "1 to 3 s",
        (3.6, 4.4): "about 4 s",
        (100.0, 250.0): "2 to 4 min",
        (3000.0, 9000.0): "1 to 2 h",
    }.items(),
)
def test_ranges_in_words(seconds, said):
    assert in_words(seconds) == said
    assert beside_usual(seconds[1], seconds) == f"{seconds[1]:.0f} s of usually {said}"
    assert beside_usual(9999.0, seconds) == "9999 s, longer than usual"
