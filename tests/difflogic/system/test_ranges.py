"""Numbers as people list them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.system.errors import ConfigError
from difflogic.system.ranges import MOST, format_ranges, parse_ranges, parse_seeds


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [3]),
        ("0-3", [0, 1, 2, 3]),
        ("0-3,7,100-102", [0, 1, 2, 3, 7, 100, 101, 102]),
        (" 5 , 1 - 2 ", [1, 2, 5]),
        ("4,2-5,4", [2, 3, 4, 5]),
        (str(2**63 - 1), [2**63 - 1]),
    ],
)
def test_numbers_and_ranges(text, seeds):
    assert parse_seeds(text) == tuple(seeds)


@pytest.mark.parametrize(
    "text",
    [
        *("", "1,,2", "-1", "1-2-3", "1.5", "٣", "9-3", str(2**63), f"0-{MOST}"),
        f"0-{MOST - 1},{2**62}-{2**62 + 1}",
    ],
)
def test_what_is_refused(text):
    with pytest.raises(
        ConfigError, match=r'^--seeds "[^"]*": must be numbers and ascending ranges'
    ):
        parse_seeds(text)


@pytest.mark.parametrize("text", ["0", "0,4-7,9", "7,3-4"])
def test_numbers_keep_their_order(text):
    assert format_ranges(parse_ranges("--channels", text)) == text


@given(st.sets(st.integers(0, 60) | st.integers(0, 2**63 - 1), min_size=1))
def test_the_text_of_seeds_is_read_back(seeds):
    assert parse_seeds(format_ranges(sorted(seeds))) == tuple(sorted(seeds))
