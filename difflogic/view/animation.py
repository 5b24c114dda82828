"""Pictures of rollouts: animations and strips of frames, with cells as squares of exact pixels."""

from __future__ import annotations

import io
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
LAST_MILLISECONDS = 1000
"""For which the last frame stays."""

FRAME_GAP = 24
LABEL_PIXELS = 16
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


@dataclass(frozen=True)
class View:
    """The channels to show, by place: up to MOST_COLORED as colours."""

    channels: tuple[int, ...]
    named: tuple[tuple[int, int, int], ...] = ()
    """The automaton's own colour for each number that the channels give, if it has a palette."""

    @property
    def palette(self) -> list[tuple[int, int, int]]:
        return [_OUTSIDE, _WORDS, *(self.named or usual_palette(len(self.channels)))]

    def cells(self, grid: BitGrid) -> Pixels:
        """Return a picture of a state, one pixel per cell."""
        bits = grid.bits(self.channels)
        places = np.arange(len(bits), dtype=np.uint8)[:, None, None]
        values: Pixels = (bits << places).sum(axis=0, dtype=np.uint8) + np.uint8(OTHER_COLORS)
        return values


class Film:
    """Frames of a rollout; they are drawn as states come."""

    def __init__(
        self, view: View, size: tuple[int, int], labels: Sequence[str], scale: int | None = None
    ) -> None:
        """Show a grid of this `size`, (rows, columns), with a label for each frame.

        Cells have `scale` pixels, by default as many as fit into a square of USUAL_PIXELS. Raises
        ConfigError if the frames need too much memory.
        """
        self._view = view
        self._labels = labels
        rows, columns = size
        if scale is None:
            scale = max(1, USUAL_PIXELS // max(rows, columns))
            if rows == 1:
                scale = max(scale, min(LINE_PIXELS, ROW_PIXELS // columns))
        self._scale = scale
        self.size = (scale * rows, scale * columns)
        """Rows and columns of a frame, in pixels."""
        height, width = self.size
        if len(labels) * height * width > MOST_PIXELS:
            raise ConfigError(
                f"{len(labels)} frames of {height}×{width} pixels are too many: show fewer "
                "steps (--every) or make cells smaller (--scale)"
            )
        self._frames: list[Pixels] = []

    def draw(self, grid: BitGrid) -> None:
        """Add the frame of a state."""
        cells = self._view.cells(grid)
        self._frames.append(cells.repeat(self._scale, axis=0).repeat(self._scale, axis=1))

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
        most = max(1, ROW_PIXELS // (width + FRAME_GAP))
        columns = -(-count // -(-count // most))  # rows that are equally long, or nearly
        across = width + FRAME_GAP
        down = height + LABEL_PIXELS + FRAME_GAP
        size = (columns * across - FRAME_GAP, -(-count // columns) * down - FRAME_GAP)
        image = Image.new("L", size, BACKGROUND)
        draw = ImageDraw.Draw(image)
        draw.fontmode = "1"  # the palette has no greys
        for number, (frame, label) in enumerate(zip(self._frames, self._labels, strict=True)):
            y, x = divmod(number, columns)
            image.paste(Image.fromarray(frame), (x * across, y * down))
            draw.text((x * across, y * down + height + 2), label, fill=TEXT)
        return np.asarray(image)


def _image(pixels: Pixels, palette: Sequence[tuple[int, int, int]]) -> Image.Image:
    from PIL import Image

    image = Image.fromarray(pixels, "P")
    image.putpalette(_flat(palette))
    return image


def _flat(palette: Sequence[tuple[int, int, int]]) -> list[int]:
    return [part for color in palette for part in color]
