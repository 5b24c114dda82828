"""Grids of cells as characters of a terminal, two cells to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console
    from rich.text import Text

COLOR_CHANNELS = (2, 3)
COLORS = ("grey11", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
"""Of a cell with these bits: the first channel is red, the second green, the third blue."""


def has_color(console: Console) -> bool:
    """Return whether a terminal shows colours, and may."""
    return console.color_system is not None and not console.no_color


def picture(grid: npt.NDArray[np.uint8] | Sequence[Sequence[int]], lines: int) -> list[str]:
    """Draw a grid of bits, shape (height, width), two cells to a character; at most `lines`."""
    rows = [[int(bit) for bit in row] for row in grid[: 2 * lines]]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(" ▄▀█"[2 * a + b] for a, b in zip(*pair, strict=True)) for pair in pairs]


def cells(
    bits: npt.NDArray[np.uint8],
    lines: int,
    colored: bool,
    palette: Sequence[tuple[int, int, int]] = (),
) -> list[Text]:
    """Draw loss channels of bits, shape (channels, height, width), as `picture` does.

    With colours, a `palette` gives that of each number of the bits, channel 0 the lowest; else two
    or three channels are red, green and blue; of any others the first is drawn.
    """
    from rich.text import Text

    named = len(palette) == 2 ** len(bits)
    if not colored or not (named or len(bits) in COLOR_CHANNELS):
        return [Text(line, "green on grey11") for line in picture(bits[0], lines)]
    numbers = sum(channel.astype(int) << index for index, channel in enumerate(bits))
    rows = [[int(number) for number in row] for row in numbers[: 2 * lines]]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    colors = [f"rgb({r},{g},{b})" for r, g, b in palette] if named else COLORS
    drawn = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        line = Text()
        for a, b in zip(upper, lower, strict=True):
            line.append("▀", f"{colors[a]} on {colors[b]}")
        drawn.append(line)
    return drawn
