"""Sets of seeds as people write them: ``0-3,7,100-131``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from difflogic.system.errors import ConfigError

MAX_SEEDS = 100_000
"""More runs than anyone can wait for: a guard against a slip of the keyboard."""

_PART = re.compile(r"\s*([0-9]{1,19})\s*(?:-\s*([0-9]{1,19})\s*)?", re.ASCII)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds that `text` names, ascending and each once.

    Raises ConfigError for anything but numbers and ranges from 0 to 2**63 - 1, joined by commas.
    """
    seeds: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ConfigError(
                f'--seeds {text}: "{part.strip()}" is neither a number nor a range: write seeds '
                "as 0-15, or 0-3,7,100-131"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ConfigError(
                f"--seeds {text}: {first}-{last} runs backwards: write {last}-{first}"
            )
        if last >= 2**63:
            raise ConfigError(f"--seeds {text}: {last} is too large: a seed is less than 2**63")
        if last - first >= MAX_SEEDS or len(seeds) + last - first >= MAX_SEEDS:
            raise ConfigError(f"--seeds {text}: more than {MAX_SEEDS} seeds: ask for fewer")
        seeds.update(range(first, last + 1))
    return tuple(sorted(seeds))


def format_seeds(seeds: Iterable[int]) -> str:
    """Return the shortest text that `parse_seeds` reads as these seeds."""
    parts: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if parts and seed == parts[-1][1] + 1:
            parts[-1][1] = seed
        else:
            parts.append([seed, seed])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
