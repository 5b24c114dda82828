"""The files that a simulation starts from: their content, and cells' states as bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from difflogic.pictures.patterns import PATTERNS, PatternFile, parse_pattern
from difflogic.system.array_types import Bits, Int64s
from difflogic.system.errors import ConfigError, MissingFileError, errors_about
from difflogic.system.files import read_named

START_NAMES = ("random", "center", "zeros")

MOST_PICTURE_BYTES = 2**26
"""Largest picture file."""


def read_start(path: Path) -> bytes:
    """Return a file's content. Raises ConfigError."""
    try:
        return read_named(path, MOST_PICTURE_BYTES, "a start")
    except MissingFileError as error:
        raise ConfigError(f"{error}; a start is {', '.join(START_NAMES)} or a file") from None


def read_pattern(start: str | Path) -> PatternFile | None:
    """Return the pattern in a start's file, None if it is no pattern. Raises ConfigError."""
    if Path(start).suffix.lower() not in PATTERNS:
        return None
    content = read_start(Path(start))
    with errors_about(start):
        return parse_pattern(content)


def bits_of(states: Int64s, channels: int) -> Bits:
    """Return the bits of cells' states, (channels, rows, columns), the lowest first."""
    if (most := int(states.max())) >> channels:
        raise ConfigError(f"has the state {most}, more than the visible channels can hold")
    return np.stack([states >> bit & 1 for bit in range(channels)]).astype(np.uint8)
