"""Draws a grid's visible channels as an image: two colours, three primary colours, or shades."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from difflogic.circuit.colors import Color
from difflogic.simulation.bit_grid import BitGrid, unpack
from difflogic.system.array_types import Bits
from difflogic.system.files import write_whole

SIDE = 2048
"""Longest side of an image, in pixels. On larger grids a pixel is the mean of a square of cells."""
SMALL_SIDE = 512
"""Small grids are enlarged up to this many pixels."""


PAPER = (245, 242, 235)
INK = (28, 52, 84)
_TWO = (PAPER, (0, 114, 178), (230, 159, 0), INK)
"""Neither, the first, the second, both channels: colours that the colour-blind can tell apart, of
Okabe and Ito 2008."""
MOST_COLORED = 3
"""Most channels that a cell's colour can show without a palette of its own."""


def usual_palette(channels: int) -> tuple[Color, ...]:
    """Return the colour of each number that a cell's bits form; () for more than MOST_COLORED.

    Three channels are red, green and blue.
    """
    if channels == MOST_COLORED:
        levels = itertools.product((0, 255), repeat=3)
        return tuple((r, g, b) for b, g, r in levels)
    return ((), (PAPER, INK), _TWO)[channels] if channels < MOST_COLORED else ()


def save_picture(
    path: Path, grid: BitGrid, channels: Sequence[int], palette: Sequence[Color] = ()
) -> int:
    """Write channels, given by position, as PNG; return how many cells wide a pixel is.

    Raises RunDirectoryError if that fails.
    """
    from PIL import Image

    pixels = render(grid, channels, palette)
    factor = max(1, SMALL_SIDE // max(pixels.shape[:2]))
    image = Image.fromarray(pixels.repeat(factor, axis=0).repeat(factor, axis=1))
    content = io.BytesIO()
    image.save(content, "PNG")
    write_whole(path, lambda file: file.write(content.getvalue()))
    return _cells_per_pixel(grid)


def render(grid: BitGrid, channels: Sequence[int], palette: Sequence[Color] = ()) -> Bits:
    """Return colours of shape (rows, columns, 3), one pixel per cell or square of cells.

    The bits form a colour's number in the `palette`, by default `usual_palette`; the first channel
    is the lowest bit. Of channels that have none, the share of ones goes from PAPER to INK.
    """
    palette = palette or usual_palette(len(channels))
    geometry = grid.geometry
    square = _cells_per_pixel(grid)
    rows = []
    for first in range(0, geometry.height, square):
        band = slice(first, min(first + square, geometry.height))
        bits = np.stack([unpack(grid.cells(band, c)[:, None], geometry.width)[0] for c in channels])
        if palette:
            numbers = (bits.astype(np.int64) << np.arange(len(bits))[:, None, None]).sum(axis=0)
            bits = np.moveaxis(np.array(palette, np.float32)[numbers] / 255, -1, 0)
        edges = np.arange(0, geometry.width, square)
        sums = np.add.reduceat(bits.sum(axis=1, dtype=np.float32), edges, axis=1)
        columns = np.diff(np.append(edges, geometry.width))
        rows.append(sums / (columns * bits.shape[1]))
    shares = np.stack(rows, axis=1)
    if palette:
        colors = np.moveaxis(shares, 0, -1) * 255
    else:
        paper, ink = np.array([PAPER, INK], np.float32)
        colors = paper + shares.mean(axis=0)[..., None] * (ink - paper)
    return colors.round().astype(np.uint8)


def _cells_per_pixel(grid: BitGrid) -> int:
    """Return how many cells wide and high a pixel is."""
    return -(-max(grid.geometry.height, grid.geometry.width) // SIDE)
