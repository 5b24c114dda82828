"""What several commands are told in the same way: sizes and workers."""

from __future__ import annotations

import re

MOST_SIDE = 10**9 - 1


def parse_size(option: str, text: str, most: int = MOST_SIDE) -> tuple[int, int]:
    """Return rows and columns of a size such as 512x1024, each at most `most`.

    Raises ConfigError, which names the option, for another text.
    """
    from difflogic.errors import ConfigError

    found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", text)
    sides = tuple(map(int, found.groups())) if found else ()
    if len(sides) != 2 or not all(1 <= side <= most for side in sides):
        raise ConfigError(
            f'{option} "{text}": must be HxW, rows and columns, such as 16x32, each from 1 to '
            f"{most}"
        )
    return sides


def worker_count(workers: str | None) -> int:
    """Return how many threads are meant by a number, "auto", or nothing."""
    from difflogic import machine

    return machine.cpu_count() if workers in (None, "auto") else int(workers or 1)
