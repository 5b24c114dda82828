"""Image files as pictures: from pixels to the bits of each cell.

`image_bits` makes one bit per loss channel. With one loss channel the bits are *ink*: what is
opaque in an image with transparent pixels, as in an emoji; in any other image, what differs from
the background, the median colour of the border, by at least half as much as the pixel that differs
most. So black on white, white on black and red on blue are alike. With three loss channels, each of
red, green and blue is 1 from half of its range on, and transparent pixels are 0. The image is
scaled to the largest size that fits the grid with its proportions. A cell's value is the mean of
the pixels under it, rounded to a bit.

`quantise` keeps colours: it finds a small palette, and the bits of a cell are its colour's number.
Number 0 is nothing: what is transparent, or the most frequent colour of the border. Pillow chooses
the other colours from all pixels, or they are given. A cell has the colour of most pixels under it,
so that no colour is a mixture of two others; but a line that is thinner than a cell counts as if it
filled one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.colors import Color
from difflogic.pictures.pixels import cell_side, read_image
from difflogic.pictures.text import center_picture
from difflogic.system.array_types import Array, Bits, Flags, Int64s
from difflogic.system.errors import ConfigError

_WORKING_SIDE = 1024
"""A larger image is first reduced to this longer side, in pixels."""

_FAINT = 8 / 255
"""Smaller differences from the background are noise of the compression."""

MOST_PICTURE_SIDE = 256
"""Most cells to a side."""

OWN_SIDE = 128
"""An image with at most this many pixels to a side has one cell per pixel."""

USUAL_SIDE = 64
"""Cells of the longer side for a larger image."""

LEAST_ART = 8
"""Cells to the shorter side of upscaled pixel art: larger squares are what an image shows."""

PALETTES = (2, 4, 8, 16)
"""Numbers of colours, with the background, that 1 to 4 bits can tell apart."""

MOST_DRAWING_COLORS = 1024
"""Most colours of a drawing, whose thin lines are kept; in a photo they would be grain."""

USUAL_COLORS = 8
"""Colours for an image with more than the largest palette."""

BEHIND_LIGHT = (36, 40, 48)
BEHIND_DARK = (255, 255, 255)
BEHIND_BOTH = (136, 146, 160)
"""Colours of nothing behind pictures with transparent pixels that are light, dark, or both."""

Spots = npt.NDArray[np.intp]


def image_bits(content: bytes, channels: int, height: int, width: int) -> Bits:
    """Return the bits (channels, height, width) of an image file's `content`, scaled to the grid.

    `channels` is 1 or 3. Raises ConfigError unless it is a complete still image of a known format
    that leaves something on the grid.
    """
    if channels not in (1, 3):
        raise ConfigError(
            f"an image gives 1 or 3 loss channels, but task.loss_channels has {channels}: list 1 "
            "or 3, or draw the picture as text"
        )
    pixels, _ = read_image(content, max(_WORKING_SIDE, height, width))
    colors = pixels.astype(np.float32) / np.float32(255)
    light = np.moveaxis(colors[..., :3] * colors[..., 3:], -1, 0)
    values = _ink(colors)[None] if channels == 1 else light
    scaled = np.stack([_fit(value, height, width) for value in values])
    # The mean of pixels that are half ink must not depend on the order of their sum.
    bits = (scaled > 0.5 - 1e-4).astype(np.uint8)
    if not bits.any():
        raise _nothing_left(height, width)
    return center_picture(bits, height, width)


def _nothing_left(height: int, width: int) -> ConfigError:
    return ConfigError(
        f"nothing of the image is left on {height}×{width} cells: draw thicker lines, or use a "
        "larger grid (--size, or task.height and task.width)"
    )


def _ink(colors: Array) -> Array:
    """Return the ink of each pixel, 0 to 1, shape (h, w), from RGBA (h, w, 4)."""
    rgb = colors[..., :3]
    alpha = colors[..., 3]
    if alpha.min() < 0.5:
        return alpha
    difference = np.abs(rgb - np.median(_border(rgb), axis=0)).max(axis=-1)
    most = difference.max()
    if most < _FAINT:
        raise ConfigError(
            "the image has one colour: use a colour other than the border, or a transparent "
            "background"
        )
    ink: Array = difference / most
    return ink


def _fit(values: Array, height: int, width: int) -> Array:
    """Scale (h, w) to the largest size in `height` × `width` with the same proportions."""
    from PIL import Image

    h, w = values.shape
    scale = min(height / h, width / w)
    # Pillow's box filter takes the mean of a cell's pixels, or the nearest if cells are smaller.
    size = (max(1, round(w * scale)), max(1, round(h * scale)))
    image = Image.fromarray(np.ascontiguousarray(values, np.float32))
    return np.asarray(image.resize(size, Image.Resampling.BOX))


@dataclass(frozen=True)
class Quantised:
    """An image in a few colours."""

    bits: Bits
    """Shape (channels, height, width); channel 0 is the lowest bit of a cell's colour number."""
    palette: tuple[Color, ...]
    """The colour of each number from 0 to 2 ** channels - 1."""
    used: int
    """Number of colours of the cells, with the background."""
    pixels: tuple[int, int]
    """Rows and columns of the image."""
    found: int
    """Number of colours of the pixels."""
    side: int = 1
    """Pixels to a side of each cell, if all of these have one colour, as in upscaled pixel art."""


def quantise(
    content: bytes,
    colors: int | None = None,
    size: tuple[int, int] | None = None,
    given: Sequence[Color] = (),
) -> Quantised:
    """Return an image file's `content` in at most `colors` colours, on a grid of `size`.

    `colors` is one of PALETTES, by default the smallest with all colours of the image, or else
    USUAL_COLORS; or the colours are those `given`. `size` is rows and columns, by default
    `own_size`. In a `size` with other proportions the picture is in the middle. Raises ConfigError
    unless it is an image with at least two colours.
    """
    pixels, shape = read_image(content, _WORKING_SIDE)
    side = _art_side(pixels) if size is None and pixels.shape[:2] == shape else 1
    whole = shape[0] // side, shape[1] // side
    height, width = size or (own_size(*shape) if side == 1 else whole)
    scale = min(height / pixels.shape[0], width / pixels.shape[1])
    rows, columns = (max(1, round(side * scale)) for side in pixels.shape[:2])
    numbers, palette, found = _numbers(pixels, colors, given)
    cells = _scaled(numbers, len(palette), rows, columns, found <= MOST_DRAWING_COLORS)
    kept = np.unique(cells[cells > 0])
    if not len(kept):
        raise _nothing_left(height, width)
    cells = np.where(cells > 0, np.searchsorted(kept, cells) + 1, 0)
    used = [palette[0], *(palette[number] for number in kept)]
    channels = (len(used) - 1).bit_length()
    # Numbers that the picture does not use may appear while it grows.
    full = used + [used[-1]] * (2**channels - len(used))
    bits = (cells >> np.arange(channels)[:, None, None] & 1).astype(np.uint8)
    placed = center_picture(bits, height, width)
    return Quantised(placed, tuple(full), len(used), shape, found, side)


def _art_side(pixels: Bits) -> int:
    """Return the side of the cells of upscaled pixel art, (h, w, 4); 1 for other images."""
    numbers = pixels.astype(np.uint64) @ np.array([1, 2**8, 2**16, 2**24], np.uint64)
    side = cell_side(numbers[None])
    height, width = numbers.shape
    fits = LEAST_ART * side <= min(height, width) and max(height, width) <= MOST_PICTURE_SIDE * side
    return side if fits else 1


def own_size(height: int, width: int) -> tuple[int, int]:
    """Return the usual grid, rows and columns, for an image of this many pixels."""
    longer = max(height, width)
    if longer <= OWN_SIDE:
        return height, width
    rows, columns = (max(1, round(side * USUAL_SIDE / longer)) for side in (height, width))
    return rows, columns


def _numbers(
    pixels: Bits, colors: int | None, given: Sequence[Color]
) -> tuple[Int64s, list[Color], int]:
    """Return a colour number for each pixel (h, w), and the colours, nothing first.

    Also returns how many colours the image has. Raises ConfigError if it shows nothing.
    """
    from PIL import Image

    opaque = pixels[..., 3] >= 128
    if not opaque.any():
        raise ConfigError("the image is transparent everywhere: draw something on it")
    clear = 0 if opaque.all() else 1
    inked = pixels[opaque, :3]
    packed = inked.astype(np.int64) @ np.array([2**16, 2**8, 1])
    _, where, codes = np.unique(packed, return_index=True, return_inverse=True)
    distinct = inked[where]
    found = len(distinct) + clear
    if found < 2:
        raise ConfigError("the image has one colour: use a second one, or a transparent background")
    if colors is None:
        colors = next((n for n in PALETTES if n >= found), USUAL_COLORS)
    if given:
        distinct = np.array(given, np.uint8)
        distances = [((inked.astype(np.int64) - each) ** 2).sum(axis=1) for each in distinct]
        codes = np.argmin(distances, axis=0)
    elif found > colors:
        row = Image.fromarray(inked[None])
        row = row.quantize(
            colors - clear, Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE
        )
        distinct = np.array(row.getpalette(), np.uint8).reshape(-1, 3)
        codes = np.asarray(row)[0].astype(np.int64)
    numbers = np.full(opaque.shape, -1)
    numbers[opaque] = codes
    first = -1 if clear else int(np.bincount(_border(numbers)).argmax())
    counts = np.bincount(codes, minlength=len(distinct))
    order = [int(n) for n in np.argsort(-counts, kind="stable") if counts[n] and n != first]
    lookup = np.zeros(len(distinct) + 1, np.int64)
    lookup[1 + np.array(order, np.int64)] = 1 + np.arange(len(order))
    nothing = _behind(inked) if clear else _color(distinct[first])
    return lookup[numbers + 1], [nothing, *(_color(distinct[number]) for number in order)], found


def _border(values: Array) -> Array:
    """Return the outermost rows and columns of an image (h, w, …)."""
    return np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])


def _behind(inked: Bits) -> Color:
    """Return a background that contrasts with all colours, and so with small eyes in a face."""
    light = (inked.min(axis=1) > 200).mean()
    dark = (inked.max(axis=1) < 80).mean()
    if light <= 0.02:
        return BEHIND_DARK
    return BEHIND_BOTH if dark > 0.002 else BEHIND_LIGHT


def _color(rgb: Bits) -> Color:
    r, g, b = rgb.tolist()
    return r, g, b


def _scaled(numbers: Int64s, count: int, h: int, w: int, lines: bool) -> Int64s:
    """Return the most frequent number among the pixels under each cell, shape (h, w).

    With `lines`, thin ones are kept.
    """
    from PIL import Image

    if numbers.shape == (h, w):
        return numbers
    scale = max(numbers.shape[0] / h, numbers.shape[1] / w)
    # A line that is one pixel wide covers one in `scale` pixels of a cell that it crosses, and half
    # of them where two cells share it.
    weights = np.ones(numbers.shape, np.float32)
    if lines:
        weights[_thin(numbers, count, math.ceil(scale))] = 2 * scale
    masks = ((numbers == number) * weights for number in range(count))
    shares = [
        np.asarray(Image.fromarray(mask).resize((w, h), Image.Resampling.BOX)) for mask in masks
    ]
    most: Int64s = np.argmax(shares, axis=0)
    return most


def _thin(numbers: Int64s, count: int, width: int) -> Flags:
    """Return which pixels belong to lines that are at most `width` wide, and further apart.

    They lie between pixels of one other number, along a row or a column.
    """
    found = np.zeros(numbers.shape, np.bool_)
    for number in range(count):
        for axis in (0, 1):
            ground = np.moveaxis(numbers == number, axis, 0)
            at = np.arange(len(ground))[:, None]
            end = len(ground)
            wide = _next(~ground, at, end) - _last(~ground, at, -1) > width
            behind = _last(wide, at, -2 * end)
            ahead = _next(wide, at, 2 * end)
            lines = np.moveaxis(found, axis, 0)
            lines |= ~ground & (at - behind <= width) & (ahead - at <= width)
    return found


def _last(mask: Flags, at: npt.NDArray[np.intp], none: int) -> Spots:
    """Return the place, along axis 0, of the last pixel of `mask` up to each."""
    return np.maximum.accumulate(np.where(mask, at, none), axis=0)


def _next(mask: Flags, at: npt.NDArray[np.intp], none: int) -> Spots:
    """Return the place, along axis 0, of the next pixel of `mask` from each on."""
    return np.minimum.accumulate(np.where(mask, at, none)[::-1], axis=0)[::-1]
