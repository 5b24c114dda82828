"""Pictures to grow, as text: one line per row, one character, the sign, per cell.

A cell's colour is its bits, one per loss channel. The sign `.` is all 0 and `#` is all 1. With
three channels, r g b y m c stand for red (channel 0), green (1), blue (2), yellow (0 and 1),
magenta (0 and 2) and cyan (1 and 2). With up to four channels, a hexadecimal digit is the bits as a
number, channel 0 the lowest.
"""

from __future__ import annotations

import json
from functools import lru_cache
from textwrap import dedent

import numpy as np

from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted

LETTER_COLORS = {"r": 0b001, "g": 0b010, "b": 0b100, "y": 0b011, "m": 0b101, "c": 0b110}

MOST_TOLD = 5
"""Most channels to read from a sign. From five on, only `.` and `#` are signs, and all channels
have the same bits."""

MAX_CELLS = 2**18
"""Of a picture, 512 × 512: its text still fits into a configuration file."""


@lru_cache(maxsize=8)
def parse_picture(text: str, channels: int) -> Bits:
    """Return the bits of a picture, shape (channels, height, width), not to be written to.

    Raises ConfigError if rows differ in length, or a sign is unknown or too large for `channels`.
    """
    start = text.lstrip()
    if start.startswith(("<", "/* XPM")):
        raise ConfigError("is a drawing in SVG, XML or XPM: save it as PNG")
    rows = rows_of(text)
    if not rows:
        raise ConfigError("the picture is empty: give rows of cells, such as .#.")
    width = len(rows[0])
    if len(rows) * width > MAX_CELLS:
        raise ConfigError(f"{len(rows)}×{width} cells are more than the {MAX_CELLS} of a picture")
    told = min(channels, MOST_TOLD)
    signs = _signs(told)
    numbers = np.empty((len(rows), width), np.int64)
    for y, row in enumerate(rows):
        unknown = next((x for x, sign in enumerate(row) if sign not in signs), None)
        if unknown is not None:
            raise ConfigError(_unknown_sign(row[unknown], y, unknown, channels))
        if len(row) != width:
            raise ConfigError(
                f"row {y + 1} has {len(row)} cells and row 1 has {width}: all must be equal"
            )
        numbers[y] = [signs[sign] for sign in row]
    bits = (numbers >> np.arange(told)[:, None, None] & 1).astype(np.uint8)
    bits.flags.writeable = False
    return bits if told == channels else np.broadcast_to(bits[0], (channels, *bits.shape[1:]))


def rows_of(text: str) -> list[str]:
    """Return the rows of a drawing, without the indentation that all of them have.

    Any other blank before or between its signs is kept, for an error: it may be meant as a cell.
    """
    rows = [row.rstrip() for row in dedent(text.expandtabs()).splitlines()]
    filled = [number for number, row in enumerate(rows) if row]
    return rows[filled[0] : filled[-1] + 1] if filled else []


def render_picture(bits: Bits) -> str:
    """Return a picture (channels, height, width) as text, for `parse_picture`.

    With more than four channels, the bits of a cell must all be equal.
    """
    if len(bits) > MOST_TOLD:
        if not (bits == bits[0]).all():
            raise ValueError(f"{len(bits)} channels that differ have no signs")
        bits = bits[:MOST_TOLD]
    channels = len(bits)
    numbers = (bits.astype(np.int64) << np.arange(channels)[:, None, None]).sum(axis=0)
    # Of several signs for the same bits, the first is written.
    names: dict[int, str] = {}
    for sign, number in _signs(channels).items():
        names.setdefault(number, sign)
    return "".join("".join(names[number] for number in row) + "\n" for row in numbers.tolist())


def center_picture(bits: Bits, height: int, width: int) -> Bits:
    """Return a picture (channels, h, w) in the middle of zeros, (channels, height, width).

    The grid's middle cell, (height // 2, width // 2), is that of the picture, so a start cell in
    the middle keeps its place in the picture. Raises ConfigError if the picture is larger.
    """
    channels, h, w = bits.shape
    if h > height or w > width:
        raise ConfigError(
            f"the picture has {h}×{w} cells and does not fit the grid of {height}×{width}: use "
            f"--size {h}x{w} or more, or set task.height and task.width"
        )
    if height * width > MAX_CELLS:
        raise ConfigError(
            f"a grid of {height}×{width} cells is larger than the {MAX_CELLS} cells of a picture"
        )
    top = height // 2 - h // 2
    left = width // 2 - w // 2
    placed = np.zeros((channels, height, width), np.uint8)
    placed[:, top : top + h, left : left + w] = bits
    return placed


def _signs(channels: int) -> dict[str, int]:
    """Return the valid signs for this many channels, with their bits as numbers."""
    full = 2**channels - 1
    signs = {".": 0, "#": full}
    if channels == 3:
        signs |= LETTER_COLORS
    if channels <= 4:
        # b is blue with three channels, and eleven with four.
        signs |= {sign: int(sign, 16) for sign in "0123456789abcdefABCDEF" if int(sign, 16) <= full}
    return signs


def _unknown_sign(sign: str, y: int, x: int, channels: int) -> str:
    where = f"{json.dumps(sign, ensure_ascii=False)} (row {y + 1}, column {x + 1})"
    known = f"the signs are {' '.join(_signs(min(channels, MOST_TOLD)))}"
    if sign == " ":
        known = "a blank is no cell: use . for nothing"
    more = "; --colors 3 has rgbymc and 0 to 7, too" if channels < 3 and sign in _signs(3) else ""
    return f"no colour {where} with {counted(channels, 'loss channel')}: {known}{more}"
