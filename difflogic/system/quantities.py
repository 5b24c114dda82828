"""Quantities as people write them: bytes (`512MB`), counts (`2 tasks`), ranges (`0-3,7`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from difflogic.system.errors import ConfigError

_UNITS = {"b": 1} | {
    f"{prefix}{binary}b": base**power
    for power, prefix in enumerate("kmgt", 1)
    for binary, base in (("", 1000), ("i", 1024))
}

BYTES = r"^([0-9]{1,9}(?:\.[0-9]{1,6})?) ?((?:[kKMGT]i?)?B)$"
"""Matches a number of bytes."""


def parse_bytes(text: str) -> int:
    """Return the bytes of a text such as 512MB, 1.5 GB or 2MiB: 10^6, 10^9 and 2^20 bytes.

    Raises ConfigError for any other text, and for less than a byte.
    """
    found = re.fullmatch(BYTES, text)
    size = round(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
    if size < 1:
        raise ConfigError(f'"{text}" is not a number of bytes: write it as 512MB, 2GB or 1MiB')
    return size


def show_bytes(size: float) -> str:
    """Format bytes to three digits, in units of a thousand: 960 kB, 1.58 MB, 24.9 GB."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        # A size that rounds up to a thousand belongs to the next unit.
        if size >= 0.9995 * factor:
            number = size / factor
            digits = (number < 9.995) + (number < 99.95)
            return f"{number:.{digits}f} {unit}"
    return f"{size:.0f} B"


def at_least(size: int) -> str:
    """Return a text in megabytes that `parse_bytes` reads as `size` bytes or a little more."""
    return f"{-(-size // 10**5) / 10:g}MB" if size < 10**9 else f"{-(-size // 10**6)}MB"


def counted(number: int, what: str) -> str:
    """Return a count with its noun: 1 task, 2 tasks."""
    return f"{number} {what}{'' if number == 1 else 's'}"


MOST_IN_RANGES = 100_000
"""Nobody means more seeds, steps or channels: guards against a slip of the keyboard."""

_PART = re.compile(r"\s*([0-9]{1,19})\s*(?:-\s*([0-9]{1,19})\s*)?", re.ASCII)


def parse_ranges(text: str) -> tuple[int, ...]:
    """Return the numbers of a text such as ``0-3,7,100-131``, in its order.

    Raises ConfigError unless the text is at most MOST_IN_RANGES numbers from 0 to 2**63 - 1, as
    numbers and ascending ranges joined by commas.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if last >= 2**63 or not 0 <= last - first < MOST_IN_RANGES - len(numbers):
            raise ConfigError(
                f'"{text}": must be numbers and ascending ranges, such as 0,4-7,9: at '
                f"most {MOST_IN_RANGES} in all, each less than 2**63"
            )
        numbers += range(first, last + 1)
    return tuple(numbers)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of such a text in ascending order. Raises ConfigError, also for twins."""
    found = sorted(parse_ranges(text))
    twice = next((a for a, b in pairwise(found) if a == b), None)
    if twice is not None:
        raise ConfigError(f'"{text}": names the seed {twice} twice')
    return tuple(found)


def format_ranges(numbers: Iterable[int]) -> str:
    """Return the shortest text that `parse_ranges` reads as these numbers."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
