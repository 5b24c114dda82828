"""Numbers of bytes, read and shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.system.errors import ConfigError
from difflogic.system.quantities import at_least, parse_bytes, show_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MB", 512 * 10**6), ("1.5 GB", 15 * 10**8), ("2MiB", 2**21), ("3TB", 3 * 10**12)],
)
def test_bytes_are_read(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "512", "MB", "-1MB", "1mb", "1 PB", "1e3MB", "0MB", "9" * 20 + "B", "٣MB", "1MB\n"]
)
def test_other_texts_are_refused(text):
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
def test_what_is_named_as_enough_is_enough(size):
    assert size <= parse_bytes(at_least(size)) <= 1.001 * size + 10**5
