"""A grid's visible channels as an image: two colours, three primary colours, or greys."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import BitGrid, unpack
from difflogic.system.files import write_whole

SIDE = 2048
"""Pixels of an image's longer side at most: on larger grids a pixel is the mean of its cells."""
SMALL_SIDE = 512
"""Pixels that a small grid is enlarged to, at most."""

Color = tuple[int, int, int]

PAPER, INK = (245, 242, 235), (28, 52, 84)
"""Colours of 0 and 1, as in animations."""


def save_picture(
    path: Path, grid: BitGrid, channels: Sequence[int], palette: Sequence[Color] = ()
) -> int:
    """Write channels, by their places, as PNG; return the side of a pixel's square, in cells.

    Raises RunDirectoryError if that fails.
    """
    from PIL import Image

    pixels = render(grid, channels, palette)
    factor = max(1, SMALL_SIDE // max(pixels.shape[:2]))
    image = Image.fromarray(pixels.repeat(factor, axis=0).repeat(factor, axis=1))
    content = io.BytesIO()
    image.save(content, "PNG")
    write_whole(path, lambda file: file.write(content.getvalue()))
    return _square(grid)


def render(
    grid: BitGrid, channels: Sequence[int], palette: Sequence[Color] = ()
) -> npt.NDArray[np.uint8]:
    """Return the colours (rows, columns, 3) of one pixel per cell, or per square of cells.

    One channel goes from the paper's colour to the ink's, three are red, green and blue on black,
    and of any other number the share of ones is the ink. With a `palette` the bits, the first
    channel the lowest, are the number of a colour.
    """
    geometry = grid.geometry
    square = _square(grid)
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
    if palette or len(channels) == 3:
        colors = np.moveaxis(shares, 0, -1) * 255
    else:
        paper, ink = np.array([PAPER, INK], np.float32)
        colors = paper + shares.mean(axis=0)[..., None] * (ink - paper)
    return colors.round().astype(np.uint8)


def _square(grid: BitGrid) -> int:
    """Return how many cells wide and high a pixel is."""
    return -(-max(grid.geometry.height, grid.geometry.width) // SIDE)
