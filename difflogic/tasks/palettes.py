"""Images in their own colours: a small palette, and its numbers as the bits of the cells.

Number 0 is nothing: what is transparent, or else the colour that most of the border has. Pillow
chooses the other colours from all pixels; a cell then has the colour of most pixels under it, so
that no colour of the picture is a mixture of two others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.system.errors import ConfigError
from difflogic.tasks.images import read_image
from difflogic.tasks.pictures import center_picture

MOST_SIDE = 64
"""Cells to a side up to which an image is taken as it is."""

USUAL_SIDE = 32
"""Cells of the longer side of a larger image."""

PALETTES = (2, 4, 8, 16)
"""Numbers of colours, the background included: those that 1 to 4 bits tell apart."""

USUAL_COLORS = 8
"""Of an image with more than the largest palette has."""

BEHIND_LIGHT, BEHIND_DARK = (36, 40, 48), (255, 255, 255)
"""What nothing looks like, where the picture is transparent."""

Color = tuple[int, int, int]


@dataclass(frozen=True)
class Quantised:
    """An image as bits and colours."""

    bits: npt.NDArray[np.uint8]
    """Shape (channels, height, width); channel 0 is the lowest bit of a cell's colour number."""
    palette: tuple[Color, ...]
    """The colour of each number that occurs or may occur, 2 ** channels of them."""
    used: int
    """How many colours the cells have, the background included."""
    pixels: tuple[int, int]
    """Rows and columns of the image."""
    found: int
    """Colours of the image's pixels."""


def quantise(
    content: bytes, colors: int | None = None, size: tuple[int, int] | None = None
) -> Quantised:
    """Return an image file's `content` in at most `colors` colours, on a grid of `size`.

    `colors` is one of PALETTES, by default the least that has all colours of the image, or
    USUAL_COLORS. `size`, rows and columns, is by default the image's own up to MOST_SIDE, else as
    large as makes the longer side USUAL_SIDE; in a `size` of other proportions the picture stands
    in the middle. Raises ConfigError for what is no image, and for one of one colour.
    """
    pixels, shape = read_image(content, 1024)
    numbers, palette = _numbers(pixels, colors)
    h, w = numbers.shape
    height, width = size or own_size(*shape)
    scale = min(height / h, width / w)
    cells = _scaled(numbers, len(palette), max(1, round(h * scale)), max(1, round(w * scale)))
    kept = np.unique(cells[cells > 0])
    if not len(kept):
        raise ConfigError(
            f"nothing of the image is left on {height}×{width} cells: draw thicker lines, or use a "
            "larger grid"
        )
    cells = np.where(cells > 0, np.searchsorted(kept, cells) + 1, 0)
    used = [palette[0], *(palette[number] for number in kept)]
    channels = (len(used) - 1).bit_length()
    # Numbers that no cell has may appear while the picture grows.
    full = used + [used[-1]] * (2**channels - len(used))
    bits = (cells >> np.arange(channels)[:, None, None] & 1).astype(np.uint8)
    opaque = pixels[..., 3] >= 128
    found = len(np.unique(_packed(pixels[opaque]))) + (not opaque.all())
    return Quantised(center_picture(bits, height, width), tuple(full), len(used), shape, found)


def _packed(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return colours (n, 3 or more) as one number each."""
    numbers: npt.NDArray[np.int64] = pixels[:, :3].astype(np.int64) @ np.array([2**16, 2**8, 1])
    return numbers


def own_size(height: int, width: int) -> tuple[int, int]:
    """Return the rows and columns of the grid that an image of so many pixels is grown on."""
    longer = max(height, width)
    if longer <= MOST_SIDE:
        return height, width
    return tuple(max(1, round(side * USUAL_SIDE / longer)) for side in (height, width))  # type: ignore[return-value]


def _numbers(
    pixels: npt.NDArray[np.uint8], colors: int | None
) -> tuple[npt.NDArray[np.int64], list[Color]]:
    """Return a colour number for each pixel (h, w), and the colours, nothing first."""
    from PIL import Image

    opaque = pixels[..., 3] >= 128
    rgb = pixels[..., :3]
    if not opaque.any():
        raise ConfigError("the image is transparent everywhere: draw something on it")
    clear = 0 if opaque.all() else 1
    inked = rgb[opaque]
    packed, codes = np.unique(_packed(inked), return_inverse=True)
    distinct = (packed[:, None] >> np.array([16, 8, 0]) & 255).astype(np.uint8)
    if len(distinct) + clear < 2:
        raise ConfigError("the image has one colour: use a second one, or a transparent background")
    if colors is None:
        total = len(distinct) + clear
        colors = next((n for n in PALETTES if n >= total), USUAL_COLORS)
    if len(distinct) + clear > colors:
        row = Image.fromarray(inked[None])
        row = row.quantize(
            colors - clear, Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE
        )
        distinct = np.array(row.getpalette(), np.uint8).reshape(-1, 3)
        codes = np.asarray(row)[0].astype(np.int64)
    numbers = np.full(opaque.shape, -1)
    numbers[opaque] = codes
    border = np.concatenate([numbers[0], numbers[-1], numbers[:, 0], numbers[:, -1]])
    first = -1 if clear else int(np.bincount(border[border >= 0]).argmax())
    counts = np.bincount(codes, minlength=len(distinct))
    order = [int(n) for n in np.argsort(-counts, kind="stable") if counts[n] and n != first]
    table = {first: 0} | {number: place + 1 for place, number in enumerate(order)}
    lookup = np.array([table.get(n, 0) for n in range(-1, len(distinct))])
    nothing = _behind(inked) if clear else _color(distinct[first])
    return lookup[numbers + 1], [nothing, *(_color(distinct[number]) for number in order)]


def _behind(inked: npt.NDArray[np.uint8]) -> Color:
    """Return what stands out from a picture's colours: white, unless some are nearly white."""
    light = (inked.min(axis=1) > 200).mean()
    return BEHIND_LIGHT if light > 0.02 else BEHIND_DARK


def _color(rgb: npt.NDArray[np.uint8]) -> Color:
    r, g, b = rgb.tolist()
    return r, g, b


def _scaled(numbers: npt.NDArray[np.int64], count: int, h: int, w: int) -> npt.NDArray[np.int64]:
    """Return the number that most pixels under each cell have, shape (h, w)."""
    from PIL import Image

    if numbers.shape == (h, w):
        return numbers
    shares = [
        np.asarray(
            Image.fromarray((numbers == number).astype(np.float32)).resize(
                (w, h), Image.Resampling.BOX
            )
        )
        for number in range(count)
    ]
    return np.argmax(shares, axis=0)


def hex_color(color: Color) -> str:
    """Return a colour as "#rrggbb"."""
    return "#" + bytes(color).hex()


def parse_color(text: str) -> Color:
    """Return a colour written as "#rrggbb"."""
    r, g, b = bytes.fromhex(text.removeprefix("#"))
    return r, g, b
