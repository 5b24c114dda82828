"""Pictures of rollouts: animations and strips of frames, with cells as squares of exact pixels."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from difflogic.simulation.bit_grid import BitGrid
from difflogic.simulation.state_picture import usual_palette
from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from PIL import Image

FILMS = (".gif", ".png", ".apng")
"""Suffixes of pictures; .png is a strip."""

MOST_PIXELS = 2**28
"""Of all frames together, which are in memory at once."""

USUAL_PIXELS = 256
"""Approximate default length of a grid's longer side."""
GAP_PIXELS = 12
"""Pixels between two grids."""
LAST_MILLISECONDS = 1000
"""For which the last frame stays."""

GAP = 24
LABEL = 16
"""Pixels of a strip between frames, and below each for its label."""

ROW_PIXELS = 1600
"""Width of a strip, unless one frame is wider."""

LINE_PIXELS = 16
"""Height of a grid of one row, which would be hard to see as part of a square."""

Pixels = Bits
"""Numbers of colours in a palette, shape (rows, columns)."""

BACKGROUND = 0
TEXT = 1
OTHER_COLORS = 2
"""Number of other colours before the cells' colours: background and text."""

_OUTSIDE = (255, 255, 255)
_WORDS = (60, 60, 60)

SHEET_GAP = 1
"""Cells between the channels of a contact sheet."""


@dataclass(frozen=True)
class View:
    """The channels to show, by place: up to MOST_COLORED as colours, or each in its own picture."""

    channels: tuple[int, ...]
    sheet: bool = False
    named: tuple[tuple[int, int, int], ...] = ()
    """The automaton's own colour for each number that the channels give, if it has a palette."""

    @property
    def palette(self) -> list[tuple[int, int, int]]:
        if self.sheet:
            return [_OUTSIDE, _WORDS, *usual_palette(1)]
        return [_OUTSIDE, _WORDS, *(self.named or usual_palette(len(self.channels)))]

    def cells(self, grid: BitGrid) -> Pixels:
        """Return a picture of a state, one pixel per cell."""
        bits = grid.bits(self.channels)
        if self.sheet:
            return _tiled([*(bits + np.uint8(OTHER_COLORS))], _shape(len(bits))[1], SHEET_GAP)
        places = np.arange(len(bits), dtype=np.uint8)[:, None, None]
        values: Pixels = (bits << places).sum(axis=0, dtype=np.uint8) + np.uint8(OTHER_COLORS)
        return values

    def rows(self, labels: Sequence[int]) -> list[list[str]]:
        """Return the labels of a sheet's channels, by row, of a circuit with these `labels`."""
        numbers = [str(labels[place]) for place in self.channels]
        columns = _shape(len(numbers))[1]
        return [numbers[at : at + columns] for at in range(0, len(numbers), columns)]

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Return the rows and columns of a grid's picture."""
        if not self.sheet:
            return height, width
        rows, columns = _shape(len(self.channels))
        return rows * (height + SHEET_GAP) - SHEET_GAP, columns * (width + SHEET_GAP) - SHEET_GAP


@dataclass(frozen=True)
class Panel:
    """A grid's place in a frame and the size of its cells, in pixels."""

    left: int
    top: int
    scale: int

    def draw(self, frame: Pixels, cells: Pixels) -> None:
        large = cells.repeat(self.scale, axis=0).repeat(self.scale, axis=1)
        rows, columns = large.shape
        frame[self.top : self.top + rows, self.left : self.left + columns] = large


class Film:
    """Frames of a rollout, in which grids stand side by side; they are drawn as states come."""

    def __init__(
        self,
        view: View,
        sizes: Sequence[tuple[int, int]],
        labels: Sequence[str],
        scale: int | None = None,
    ) -> None:
        """Show grids of these `sizes`, (rows, columns), with a label for each frame.

        Cells of the first grid have `scale` pixels, by default as many as fit into a square of
        USUAL_PIXELS. The other grids get about the same height. Raises ConfigError if the frames
        need too much memory.
        """
        self._view = view
        self._labels = labels
        pictures = [view.size(*each) for each in sizes]
        rows, columns = pictures[0]
        if scale is None:
            scale = max(1, USUAL_PIXELS // max(rows, columns))
            if rows == 1:
                scale = max(scale, min(LINE_PIXELS, ROW_PIXELS // columns))
        scales = [scale, *(max(1, round(scale * rows / each)) for each, _ in pictures[1:])]
        height = max(each * size[0] for each, size in zip(scales, pictures, strict=True))
        self._panels = []
        left = 0
        for each, size in zip(scales, pictures, strict=True):
            self._panels.append(Panel(left, (height - each * size[0]) // 2, each))
            left += each * size[1] + GAP_PIXELS
        self.size = (height, left - GAP_PIXELS)
        """Rows and columns of a frame, in pixels."""
        if len(labels) * height * self.size[1] > MOST_PIXELS:
            raise ConfigError(
                f"{len(labels)} frames of {height}×{self.size[1]} pixels are too many: show fewer "
                "steps (--every) or make cells smaller (--scale)"
            )
        self._frames = [np.full(self.size, BACKGROUND, np.uint8) for _ in labels]

    def draw(self, number: int, frame: int, grid: BitGrid) -> None:
        """Draw the state of a grid, by its number, in a frame."""
        self._panels[number].draw(self._frames[frame], self._view.cells(grid))

    def encode(self, suffix: str, frames_per_second: float) -> bytes:
        """Return the content of a file with this suffix, one of FILMS.

        It has every frame: Pillow merges equal neighbours into one that stays longer, and a reader
        could not tell how many there were.
        """
        out = io.BytesIO()
        palette = self._view.palette
        if suffix == ".png":
            _image(self._strip(), palette).save(out, "PNG", optimize=True)
            return out.getvalue()
        frames = self._frames
        images = [_image(frame, palette) for frame in frames]
        # In the hundredths of a second that GIF knows.
        each = max(20, 10 * round(100 / frames_per_second))
        times = [each] * (len(frames) - 1) + [max(each, LAST_MILLISECONDS)]
        options: dict[str, Any] = {"save_all": True, "append_images": images[1:], "loop": 0}
        if suffix == ".gif":
            # The corner's colour has two numbers, and equal neighbours differ in that.
            equal = [False, *(np.array_equal(*pair) for pair in pairwise(frames))]
            for frame, image, second in zip(frames, images, np.cumsum(equal) % 2, strict=True):
                if any(equal):
                    image.putpalette(_flat(palette * 2))
                if second:
                    image.putpixel((0, 0), int(frame[0, 0]) + len(palette))
            images[0].save(out, "GIF", optimize=False, disposal=1, duration=times, **options)
        else:  # nothing is transparent, so both ways to blend do the same
            blend = [number % 2 for number in range(len(images))]
            images[0].save(out, "PNG", optimize=True, duration=times, blend=blend, **options)
        return out.getvalue()

    def _strip(self) -> Pixels:
        """Return all frames side by side, in rows, with their labels below."""
        from PIL import Image, ImageDraw

        height, width = self.size
        count = len(self._frames)
        most = max(1, ROW_PIXELS // (width + GAP))
        columns = -(-count // -(-count // most))  # rows that are equally long, or nearly
        below = ((0, LABEL), (0, 0))
        labelled = [np.pad(each, below, constant_values=BACKGROUND) for each in self._frames]
        image = Image.fromarray(_tiled(labelled, columns, GAP))
        draw = ImageDraw.Draw(image)
        draw.fontmode = "1"  # the palette has no greys
        for number, label in enumerate(self._labels):
            y, x = divmod(number, columns)
            place = (x * (width + GAP), y * (height + LABEL + GAP) + height + 2)
            draw.text(place, label, fill=TEXT)
        return np.asarray(image)


def _tiled(pictures: Sequence[Pixels], columns: int, gap: int) -> Pixels:
    """Return pictures of one size in rows, with a gap between neighbours."""
    height, width = pictures[0].shape
    h = height + gap
    w = width + gap
    rows = -(-len(pictures) // columns)
    sheet = np.full((rows * h - gap, columns * w - gap), BACKGROUND, np.uint8)
    for number, picture in enumerate(pictures):
        y, x = divmod(number, columns)
        sheet[y * h : y * h + height, x * w : x * w + width] = picture
    return sheet


def _shape(count: int) -> tuple[int, int]:
    """Return rows and columns of a sheet, a little wider than high."""
    columns = math.ceil(math.sqrt(count))
    return -(-count // columns), columns


def _image(pixels: Pixels, palette: Sequence[tuple[int, int, int]]) -> Image.Image:
    from PIL import Image

    image = Image.fromarray(pixels, "P")
    image.putpalette(_flat(palette))
    return image


def _flat(palette: Sequence[tuple[int, int, int]]) -> list[int]:
    return [part for color in palette for part in color]
