"""Seeds as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.scale.sweeps.seeds import MAX_SEEDS, format_seeds, parse_seeds
from difflogic.system.errors import ConfigError


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
    ("text", "says"),
    [
        ("", "neither a number nor a range"),
        ("1,,2", "neither a number nor a range"),
        ("-1", "neither a number nor a range"),
        ("1-2-3", "neither a number nor a range"),
        ("1.5", "neither a number nor a range"),
        ("٣", "neither a number nor a range"),
        ("9-3", "write 3-9"),
        (str(2**63), "less than 2"),
        (f"0-{MAX_SEEDS}", "ask for fewer"),
        (f"0-{MAX_SEEDS - 1},{2**62}-{2**62 + 1}", "ask for fewer"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(ConfigError, match=says):
        parse_seeds(text)


@given(st.sets(st.integers(0, 60) | st.integers(0, 2**63 - 1), min_size=1))
def test_the_text_of_seeds_is_read_back(seeds):
    assert parse_seeds(format_seeds(seeds)) == tuple(sorted(seeds))
