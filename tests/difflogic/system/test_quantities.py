"""Bytes and ranges, read and shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.system.errors import ConfigError
from difflogic.system.quantities import (
    MOST_IN_RANGES,
    at_least,
    format_ranges,
    parse_bytes,
    parse_seeds,
    show_bytes,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MB", 512 * 10**6), ("1.5 GB", 15 * 10**8), ("2MiB", 2**21), ("3TB", 3 * 10**12)],
)
def test_bytes_are_read(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "512", "MB", "-1MB", "1mb", "1 PB", "1e3MB", "0MB", "9" * 20 + "B", "٣MB", "1MB\n"]
)
def test_other_bytes_are_refused(text):
    with pytest.raises(ConfigError):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (7, "7 B"),
        (960_000, "960 kB"),
        (999_600, "1.00 MB"),
        (15_830_000, "15.8 MB"),
        (24.94e9, "24.9 GB"),
        (3e12, "3000 GB"),
    ],
)
def test_bytes_are_shown(size, text):
    assert show_bytes(size) == text


@given(st.integers(1, 10**14))
def test_at_least_names_enough(size):
    assert size <= parse_bytes(at_least(size)) <= 1.001 * size + 10**5


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("0-3,7,100-102", [0, 1, 2, 3, 7, 100, 101, 102]),
        (" 5 , 1 - 2 ", [1, 2, 5]),
        ("4,2-3,5", [2, 3, 4, 5]),
        (str(2**63 - 1), [2**63 - 1]),
    ],
)
def test_seeds_are_read(text, seeds):
    assert parse_seeds(text) == tuple(seeds)


def test_a_seed_that_stands_twice_is_refused():
    with pytest.raises(ConfigError, match='"4,2-5": names the seed 4 twice'):
        parse_seeds("4,2-5")


@pytest.mark.parametrize(
    "text",
    [
        *("", "1,,2", "-1", "1-2-3", "1.5", "٣", "9-3", str(2**63), f"0-{MOST_IN_RANGES}"),
        f"0-{MOST_IN_RANGES - 1},{2**62}-{2**62 + 1}",
    ],
)
def test_other_ranges_are_refused(text):
    with pytest.raises(ConfigError, match=r'^"[^"]*": must be numbers and ascending ranges'):
        parse_seeds(text)


@given(st.sets(st.integers(0, 60) | st.integers(0, 2**63 - 1), min_size=1))
def test_formatted_ranges_are_read_back(seeds):
    assert parse_seeds(format_ranges(sorted(seeds))) == tuple(sorted(seeds))
