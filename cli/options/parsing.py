"""Parsers of option values: numbers, sizes, workers, channels, damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.library.simulating import Rectangle

MOST_SIDE = 10**9 - 1
MOST_WORKERS = 1024
MOST_RANKS = 64
"""Of processes that are compared with each other."""


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser of options for numbers in digits alone: Python's own takes 1_000 and +5."""

    def parse(given: str) -> int:
        text = str(given)  # a default comes as the number that it is
        number = int(text) if re.fullmatch(r"-?[0-9]{1,40}", text) else None
        if number is None or number < least or (most is not None and number > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise typer.BadParameter(f'"{text}" is not a whole number {limits}')
        return number

    return parse


def numbers(option: str, text: str | None, most: int) -> tuple[int, ...]:
    """Return the numbers of a list such as 1,2,4, each from 1 to `most`; none for None."""
    if text is None:
        return ()
    parse = whole_number(1, most)
    try:
        found = tuple(parse(part.strip()) for part in text.split(","))
    except typer.BadParameter as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if len(set(found)) < len(found):
        raise typer.BadParameter(f'"{text}" lists a number twice', param_hint=option)
    return found


def named_path(text: str) -> Path:
    """Parse a path, and refuse "", from an unset variable, which would mean this directory."""
    if not text:
        raise typer.BadParameter('"" names no directory (use . for the current one)')
    return Path(text)


def run_directory(text: str) -> Path:
    """Parse the directory of a new run; "last" would mean the newest run elsewhere."""
    path = named_path(text)
    if path == Path("last"):
        raise typer.BadParameter('"last" means the newest run: choose another name')
    return path


def named_model(text: str) -> str:
    """Parse the name of a run or a model, and refuse "", from an unset variable."""
    if not text:
        raise typer.BadParameter('"" names no run and no model file (use last for the newest run)')
    return text


def parse_size(option: str, text: str, most: int = MOST_SIDE) -> tuple[int, int]:
    """Return rows and columns of a size such as 512x1024, each at most `most`.

    Raises ConfigError, which names the option, for another text.
    """
    found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", text)
    sides = tuple(map(int, found.groups())) if found else ()
    if len(sides) != 2 or not all(1 <= side <= most for side in sides):
        raise ConfigError(
            f'{option} "{text}": must be rows x columns, such as 16x32, each from 1 to {most}'
        )
    return sides


def parse_workers(text: str) -> int | Literal["auto"]:
    """Return a number of workers, or "auto"."""
    if text == "auto":
        return "auto"
    try:
        return whole_number(1, MOST_WORKERS)(text)
    except typer.BadParameter as error:
        raise typer.BadParameter(f'{error}, or "auto"', param_hint="--workers") from None


def parse_damage(text: str) -> Rectangle:
    """Parse damage such as 10,20:0,0,8x8. Raises ConfigError."""
    from difflogic.library.simulating import Rectangle

    number = r"([0-9]{1,9})"
    found = re.fullmatch(
        rf"([0-9]{{1,9}}(?:,[0-9]{{1,9}})*):{number},{number},{number}[x×]{number}", text
    )
    if found is None:
        raise ConfigError(f'--damage "{text}": must be STEPS:Y,X,HxW, such as 10:4,4,8x8')
    steps = tuple(int(step) for step in found[1].split(","))
    y, x, height, width = (int(found[group]) for group in range(2, 6))
    return Rectangle(steps, y, x, height, width)
