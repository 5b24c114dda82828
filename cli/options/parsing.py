"""What several commands are told in the same way: sizes, workers, numbers of channels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from difflogic.library.simulating import Rectangle

MOST_SIDE = 10**9 - 1
MOST_WORKERS = 1024
MOST_BATCH = 65536
MOST_RANKS = 64
"""Of processes that are compared with each other."""
MOST_CHANNELS = 2**16


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of options for numbers in digits alone: Python's own takes 1_000 and +5."""

    def parse(given: str) -> int:
        import typer

        text = str(given)  # a default comes as the number that it is
        number = int(text) if re.fullmatch(r"-?[0-9]{1,40}", text) else None
        if number is None or number < least or (most is not None and number > most):
            end = "up" if most is None else f"to {most}"
            raise typer.BadParameter(f'"{text}" is no whole number from {least} {end}')
        return number

    return parse


def numbers(option: str, text: str | None, most: int) -> tuple[int, ...]:
    """Return the numbers of a list such as 1,2,4, each from 1 to `most`; none if there is none."""
    import typer

    if text is None:
        return ()
    parse = whole_number(1, most)
    try:
        found = tuple(parse(part.strip()) for part in text.split(","))
    except typer.BadParameter as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if len(set(found)) < len(found):
        raise typer.BadParameter(f'"{text}" has a number twice', param_hint=option)
    return found


def named_path(text: str) -> Path:
    """Parse an option that names a directory: "", as of an unset variable, would be this one."""
    import typer

    if not text:
        raise typer.BadParameter('"" names no directory (for this one: .)')
    return Path(text)


def named_model(text: str) -> str:
    """Parse an option that names a run or a model: "", as of an unset variable, is neither."""
    import typer

    if not text:
        raise typer.BadParameter('"" names no run, and no model\'s file (for the newest run: last)')
    return text


def parse_size(option: str, text: str, most: int = MOST_SIDE) -> tuple[int, int]:
    """Return rows and columns of a size such as 512x1024, each at most `most`.

    Raises ConfigError, which names the option, for another text.
    """
    from difflogic.system.errors import ConfigError

    found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", text)
    sides = tuple(map(int, found.groups())) if found else ()
    if len(sides) != 2 or not all(1 <= side <= most for side in sides):
        raise ConfigError(
            f'{option} "{text}": must be HxW, rows and columns, such as 16x32, each from 1 to '
            f"{most}"
        )
    return sides


def parse_worker_count(workers: str | None) -> int | Literal["auto"]:
    """Return how many threads are asked for: a number, or "auto" if nothing is."""
    from difflogic.system.errors import ConfigError

    if workers is None or workers == "auto":
        return "auto"
    if int(workers) > MOST_WORKERS:
        raise ConfigError(
            f"--workers {workers}: give at most {MOST_WORKERS}, or one per core: auto"
        )
    return int(workers)


def parse_channels(text: str, option: str = "--channels") -> tuple[int, ...]:
    """Return the numbers that a list such as 0,4-7,1 names, in its order.

    Raises ConfigError for another text, and for more than MOST_CHANNELS numbers.
    """
    from difflogic.system.errors import ConfigError

    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
        if not 0 <= last - first < MOST_CHANNELS - len(numbers):
            raise ConfigError(
                f'{option} "{text}": must be at most {MOST_CHANNELS} numbers and ascending '
                "ranges of them, such as 0,4-7,9"
            )
        numbers += range(first, last + 1)
    return tuple(numbers)


def format_channels(numbers: Sequence[int]) -> str:
    """Return a text that `parse_channels` reads as these numbers."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def parse_damage(text: str) -> Rectangle:
    """Return the damage that a text such as 10,20:0,0,8x8 means. Raises ConfigError for another."""
    from difflogic.library.simulating import Rectangle
    from difflogic.system.errors import ConfigError

    number = r"([0-9]{1,9})"
    found = re.fullmatch(
        rf"([0-9]{{1,9}}(?:,[0-9]{{1,9}})*):{number},{number},{number}[x×]{number}", text
    )
    if found is None:
        raise ConfigError(f'"{text}" is no damage: give STEP:Y,X,HxW, such as 10:4,4,8x8')
    steps = tuple(int(step) for step in found[1].split(","))
    y, x, height, width = (int(found[group]) for group in range(2, 6))
    return Rectangle(steps, y, x, height, width)
