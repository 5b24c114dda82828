"""Pictures that an automaton is to grow, as text: one line per row, one sign per cell.

A cell's bits, one per loss channel, are its colour: `.` is nothing, `#` is everything, and with
three channels the letters r g b y m c stand for red (channel 0), green (1), blue (2), yellow
(0 and 1), magenta (0 and 2) and cyan (1 and 2). With any number of channels up to four a
hexadecimal digit gives the bits as a number, channel 0 the lowest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.errors import ConfigError, did_you_mean

COLORS = {"r": 0b001, "g": 0b010, "b": 0b100, "y": 0b011, "m": 0b101, "c": 0b110}


def read_picture(source: str, base: Path, shipped: Path) -> str:
    """Return the rows of a picture: one of the directory `shipped` by its name, or any file.

    A relative path starts at `base`. Raises ConfigError if there is no such file.
    """
    names = sorted(path.stem for path in shipped.glob("*.txt"))
    path = shipped / f"{source}.txt" if source in names else base / source
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise ConfigError(f'no picture "{source}": {did_you_mean(source, names)}') from None


def parse_picture(text: str, channels: int) -> npt.NDArray[np.uint8]:
    """Return the bits of a picture, shape (channels, height, width).

    Raises ConfigError if rows differ in length, or a sign is unknown or too large for `channels`.
    """
    rows = [row.strip() for row in text.strip().splitlines()]
    if not rows or not rows[0]:
        raise ConfigError("there is no picture: give rows of cells, such as .#. for each")
    width = len(rows[0])
    numbers = np.empty((len(rows), width), np.int64)
    for y, row in enumerate(rows):
        if len(row) != width:
            raise ConfigError(
                f"row {y + 1} has {len(row)} cells and row 1 has {width}: make them equal"
            )
        for x, sign in enumerate(row):
            numbers[y, x] = _bits(sign, channels, y, x)
    return (numbers >> np.arange(channels)[:, None, None] & 1).astype(np.uint8)


def _bits(sign: str, channels: int, y: int, x: int) -> int:
    full = 2**channels - 1
    if sign == ".":
        return 0
    if sign == "#":
        return full
    if channels == 3 and sign in COLORS:
        return COLORS[sign]
    if channels <= 4 and sign in "0123456789abcdefABCDEF" and int(sign, 16) <= full:
        return int(sign, 16)
    raise ConfigError(
        f'no colour "{sign}" (row {y + 1}, column {x + 1}) with {channels} loss channels: use . '
        "for nothing and # for all"
    )


def render_picture(bits: npt.NDArray[np.uint8]) -> str:
    """Return the text of a picture (channels, height, width); `parse_picture` reads it back."""
    channels = len(bits)
    numbers = (bits.astype(np.int64) << np.arange(channels)[:, None, None]).sum(axis=0)
    names = {0: ".", 2**channels - 1: "#"}
    if channels == 3:
        names |= {number: sign for sign, number in COLORS.items()}
    return "".join(
        "".join(names.get(number, f"{number:x}") for number in row) + "\n"
        for row in numbers.tolist()
    )
