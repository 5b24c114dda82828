"""From states to pixels: each cell a square of one colour out of a small palette."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import BitGrid
from difflogic.simulation.picture import INK, PAPER

MOST_COLORED = 3
"""Channels that a cell's colour can tell."""

Pixels = npt.NDArray[np.uint8]
"""Places in a palette, shape (rows, columns)."""

BACKGROUND, TEXT = 0, 1
FIRST = 2
"""Palette entries before those of the cells: what lies between panels, and words."""

_OUTSIDE, _WORDS = (255, 255, 255), (60, 60, 60)
_TWO = (PAPER, (0, 114, 178), (230, 159, 0), INK)
"""Neither, the first, the second, both: colours of Okabe and Ito 2008, which the colour-blind tell
apart."""

SHEET_GAP = 1
"""Cells between the channels of a contact sheet."""


@dataclass(frozen=True)
class View:
    """Which channels are looked at, by their places, and how.

    As a sheet each channel has a picture of its own; else up to MOST_COLORED give a cell's colour.
    """

    channels: tuple[int, ...]
    sheet: bool = False
    named: tuple[tuple[int, int, int], ...] = ()
    """The colours of the channels' numbers, where the automaton names some."""

    @property
    def palette(self) -> list[tuple[int, int, int]]:
        """All colours, in the order of their places."""
        if self.named and not self.sheet:
            return [_OUTSIDE, _WORDS, *self.named]
        if self.sheet or len(self.channels) == 1:
            cells: Sequence[tuple[int, int, int]] = (PAPER, INK)
        elif len(self.channels) == 2:
            cells = _TWO
        else:
            cells = [tuple(255 * (value >> bit & 1) for bit in range(3)) for value in range(8)]  # type: ignore[misc]
        return [_OUTSIDE, _WORDS, *cells]

    def cells(self, grid: BitGrid) -> Pixels:
        """Return a state's picture, one pixel per cell."""
        bits = grid.bits(self.channels)
        if self.sheet:
            return _sheet(bits + np.uint8(FIRST))
        values = (bits << np.arange(len(bits), dtype=np.uint8)[:, None, None]).sum(
            axis=0, dtype=np.uint8
        )
        return values + np.uint8(FIRST)

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Return the rows and columns of the picture of a grid."""
        if not self.sheet:
            return height, width
        rows, columns = _shape(len(self.channels))
        return rows * (height + SHEET_GAP) - SHEET_GAP, columns * (width + SHEET_GAP) - SHEET_GAP


@dataclass(frozen=True)
class Panel:
    """Where one grid stands in a frame, and how large its cells are, in pixels."""

    left: int
    top: int
    scale: int

    def draw(self, frame: Pixels, cells: Pixels) -> None:
        """Put a picture into its place."""
        large = cells.repeat(self.scale, axis=0).repeat(self.scale, axis=1)
        rows, columns = large.shape
        frame[self.top : self.top + rows, self.left : self.left + columns] = large


def arrange(
    sizes: Sequence[tuple[int, int]], scale: int | None, side: int, gap: int
) -> tuple[list[Panel], tuple[int, int]]:
    """Put pictures of these rows and columns beside each other; return panels and the frame's size.

    The first has cells of `scale` pixels, by default as large as make it at most `side` high and
    wide; the others are as high as it, as far as whole pixels allow.
    """
    rows, columns = sizes[0]
    first = max(1, side // max(rows, columns)) if scale is None else scale
    scales = [max(1, round(first * rows / each)) for each, _ in sizes]
    scales[0] = first
    height = max(each * size[0] for each, size in zip(scales, sizes, strict=True))
    panels, left = [], 0
    for each, size in zip(scales, sizes, strict=True):
        panels.append(Panel(left, (height - each * size[0]) // 2, each))
        left += each * size[1] + gap
    return panels, (height, left - gap)


def _sheet(pictures: Pixels) -> Pixels:
    count, height, width = pictures.shape
    rows, columns = _shape(count)
    h, w = height + SHEET_GAP, width + SHEET_GAP
    sheet = np.full((rows * h - SHEET_GAP, columns * w - SHEET_GAP), BACKGROUND, np.uint8)
    for number, picture in enumerate(pictures):
        y, x = divmod(number, columns)
        sheet[y * h : y * h + height, x * w : x * w + width] = picture
    return sheet


def _shape(count: int) -> tuple[int, int]:
    """Return rows and columns of a sheet, a little wider than high."""
    columns = math.ceil(math.sqrt(count))
    return -(-count // columns), columns
