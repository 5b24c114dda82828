"""Quantities as people write them: numbers of bytes, numbers of things."""

from __future__ import annotations

import re

from difflogic.system.errors import ConfigError

_UNITS = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}

BYTES = r"^[0-9]{1,9}(\.[0-9]{1,6})? ?([kKMGT]i?)?B$"
"""What is taken for a number of bytes."""


def parse_bytes(text: str) -> int:
    """Return the bytes of a text such as 512MB, 1.5 GB or 2MiB: 10^6, 10^9, and 2^20 bytes.

    Raises ConfigError for another text, and for less than a byte.
    """
    found = re.fullmatch(BYTES, text)
    number = re.match(r"[0-9.]+", text)
    if found is None or number is None:
        raise ConfigError(f'"{text}" is not a number of bytes: write it as 512MB, 2GB or 1MiB')
    unit = text[number.end() :].strip().lower()
    size = round(float(number[0]) * _UNITS[unit])
    if size < 1:
        raise ConfigError(f'"{text}" is less than a byte: write it as 512MB, 2GB or 1MiB')
    return size


def show_bytes(size: float) -> str:
    """Format bytes to three digits, in units of a thousand: 960 kB, 1.58 MB, 24.9 GB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        # What rounds up to a thousand is one of the next unit.
        if size >= 0.9995 * factor:
            number = size / factor
            digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
            return f"{number:.{digits}f} {unit}"
    return f"{size:.0f} B"


def at_least(size: int) -> str:
    """Return a text that `parse_bytes` reads as `size` bytes or a little more, in megabytes."""
    return f"{-(-size // 10**5) / 10:g}MB" if size < 10**9 else f"{-(-size // 10**6)}MB"


def counted(number: int, what: str) -> str:
    """Return a number of things in words: 1 task, 2 tasks."""
    return f"{number} {what}{'' if number == 1 else 's'}"
