"""Numbers as people list them: ``0-3,7,100-131``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from difflogic.system.errors import ConfigError

MOST = 100_000
"""More seeds, steps or channels than anyone can mean: a guard against a slip of the keyboard."""

_PART = re.compile(r"\s*([0-9]{1,19})\s*(?:-\s*([0-9]{1,19})\s*)?", re.ASCII)


def parse_ranges(option: str, text: str) -> tuple[int, ...]:
    """Return the numbers that a text names, in its order.

    Raises ConfigError, which names the option, for anything but numbers and ranges from 0 to
    2**63 - 1, joined by commas, and for more than MOST.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if last >= 2**63 or not 0 <= last - first < MOST - len(numbers):
            raise ConfigError(
                f'{option} "{text}": must be numbers and ascending ranges, such as 0,4-7,9: at '
                f"most {MOST} in all, each less than 2**63"
            )
        numbers += range(first, last + 1)
    return tuple(numbers)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that a text names, ascending and each once. Raises ConfigError."""
    return tuple(sorted(set(parse_ranges("--seeds", text))))


def format_ranges(numbers: Iterable[int]) -> str:
    """Return the shortest text that `parse_ranges` reads as these numbers."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
