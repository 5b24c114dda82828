"""What the commands that simulate are told in the same way: sizes and workers."""

from __future__ import annotations

import re

MAX_SIDE_DIGITS = 9


def parse_size(text: str) -> tuple[int, int]:
    """Return rows and columns of a size such as 512x1024. Raises ConfigError for another text."""
    from difflogic.errors import ConfigError

    found = re.fullmatch(rf"([0-9]{{1,{MAX_SIDE_DIGITS}}})[x×]([0-9]{{1,{MAX_SIDE_DIGITS}}})", text)
    if found is None:
        raise ConfigError(f'"{text}" is no size: give rows x columns, such as 512x1024')
    height, width = (int(number) for number in found.groups())
    if height < 1 or width < 1:
        raise ConfigError(f'"{text}" is a grid without cells: give at least 1x1')
    return height, width


def worker_count(workers: str | None) -> int:
    """Return how many threads are meant by a number, "auto", or nothing."""
    from difflogic import machine

    return machine.cpu_count() if workers in (None, "auto") else int(workers or 1)
