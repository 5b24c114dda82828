"""Frames as files: GIF, animated PNG, WebP without loss, or all beside each other as one PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from difflogic.system.errors import ConfigError
from difflogic.system.files import write_whole
from difflogic.view.rendering.panels import BACKGROUND, TEXT, Pixels

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".gif", ".png", ".apng", ".webp")
"""Of files that can be written; .png is a strip."""

MOST_PIXELS = 2**28
"""Of all frames together: they are held in memory."""

GAP, LABEL = 24, 16
"""Of a strip, in pixels: between frames, and for the words below."""

ROW_PIXELS = 1600
"""Of a strip's row at most, unless one frame is wider."""


@dataclass(frozen=True)
class Animation:
    """Frames of one size, shape (frames, rows, columns), and what they are shown with."""

    frames: Sequence[Pixels]
    labels: Sequence[str]
    palette: Sequence[tuple[int, int, int]]
    frames_per_second: float = 10
    hold: float = 1
    """Seconds that the last frame stays."""

    @property
    def milliseconds(self) -> list[int]:
        """How long each frame stays; GIF knows hundredths of a second."""
        each = max(20, 10 * round(100 / self.frames_per_second))
        return [each] * (len(self.frames) - 1) + [max(each, 10 * round(100 * self.hold))]


def require_pixels(frames: int, height: int, width: int) -> None:
    """Raise ConfigError if frames of this size are more than can be held."""
    if frames * height * width > MOST_PIXELS:
        raise ConfigError(
            f"{frames} frames of {height}×{width} pixels are too many: show every second step or "
            "fewer (--every), or make cells smaller (--scale)"
        )


def write(path: Path, animation: Animation) -> int:
    """Write a file, as its suffix says, in place of an earlier one; return its bytes.

    Raises RunDirectoryError if that fails.
    """
    content = encode(animation, path.suffix)
    write_whole(path, lambda file: file.write(content))
    return len(content)


def encode(animation: Animation, suffix: str) -> bytes:
    """Return the bytes of a file with this suffix, one of SUFFIXES."""
    out = io.BytesIO()
    if suffix == ".png":
        _image(strip(animation), animation.palette).save(out, "PNG", optimize=True)
        return out.getvalue()
    images = [_image(frame, animation.palette) for frame in animation.frames]
    options: dict[str, Any] = {
        "save_all": True,
        "append_images": images[1:],
        "loop": 0,
        "duration": animation.milliseconds,
    }
    if suffix == ".gif":
        images[0].save(out, "GIF", optimize=False, disposal=1, **options)
    elif suffix == ".apng":
        images[0].save(out, "PNG", optimize=True, **options)
    else:
        colored = [image.convert("RGB") for image in images]
        options["append_images"] = colored[1:]
        colored[0].save(out, "WEBP", lossless=True, quality=100, method=4, **options)
    return out.getvalue()


def strip(animation: Animation) -> Pixels:
    """Return all frames beside each other, in rows, with their labels below."""
    from PIL import Image, ImageDraw

    height, width = animation.frames[0].shape
    columns = max(1, min(ROW_PIXELS // (width + GAP), len(animation.frames)))
    rows = -(-len(animation.frames) // columns)
    sheet = np.full(
        (rows * (height + LABEL + GAP) - GAP, columns * (width + GAP) - GAP), BACKGROUND, np.uint8
    )
    for number, frame in enumerate(animation.frames):
        y, x = divmod(number, columns)
        top, left = y * (height + LABEL + GAP), x * (width + GAP)
        sheet[top : top + height, left : left + width] = frame
    image = Image.fromarray(sheet)
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1"  # no greys: the palette has none
    for number, label in enumerate(animation.labels):
        y, x = divmod(number, columns)
        place = (x * (width + GAP), y * (height + LABEL + GAP) + height + 2)
        draw.text(place, label, fill=TEXT)
    return np.asarray(image)


def _image(pixels: Pixels, palette: Sequence[tuple[int, int, int]]) -> Image.Image:
    from PIL import Image

    image = Image.fromarray(pixels, "P")
    image.putpalette([part for color in palette for part in color])
    return image
