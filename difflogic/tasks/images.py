"""Images as pictures: from the pixels of a file to one bit per loss channel and cell.

With one loss channel the bits are *ink*. In an image with transparent pixels ink is whatever is
opaque, as in an emoji. In any other it is whatever differs from the background, the median colour
of the border, by at least half as much as the pixel that differs most: black on white, white on
black and red on blue alike. With three loss channels each of red, green and blue is 1 from half
of its range on, and what is transparent is nothing.

The image is scaled to the largest size that fits the grid, its proportions kept; a cell's value is
the mean of the pixels under it, and rounds to its bit. Around it the grid is empty.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from difflogic.system.errors import ConfigError
from difflogic.tasks.pictures import center_picture

if TYPE_CHECKING:
    from PIL import Image

FORMATS = ("PNG", "BMP", "GIF", "JPEG", "PPM", "TIFF", "WEBP")
"""What is opened. Pillow knows more formats, and hands some to other programs."""

MAX_PIXELS = 2**25
"""Of an image: 33 million, which a large photograph has. Guards memory."""

_WORKING_SIDE = 1024
"""Pixels to which the longer side of a larger image is reduced first."""

_FAINT = 8 / 255
"""A largest difference from the background below this is noise of the compression."""

Array = npt.NDArray[np.float32]


def image_bits(content: bytes, channels: int, height: int, width: int) -> npt.NDArray[np.uint8]:
    """Return the bits (channels, height, width) of an image file's `content`, scaled to the grid.

    `channels` is 1 or 3. Raises ConfigError for what is no whole still image of a known format,
    and for one that leaves nothing on the grid.
    """
    if channels not in (1, 3):
        raise ConfigError(
            f"an image gives 1 loss channel or 3, and task.loss_channels has {channels}: "
            "list as many, or draw the picture as text"
        )
    pixels, _ = read_image(content, max(_WORKING_SIDE, height, width))
    colors = pixels.astype(np.float32) / np.float32(255)
    values = _ink(colors)[None] if channels == 1 else _light(colors)
    scaled = np.stack([_fit(value, height, width) for value in values])
    # The mean of pixels that are half ink must not depend on the order of their sum.
    bits = (scaled > 0.5 - 1e-4).astype(np.uint8)
    if not bits.any():
        raise ConfigError(
            f"nothing of the image is left on {height}×{width} cells: draw thicker lines, or use a "
            "larger grid (task.height, task.width)"
        )
    return center_picture(bits, height, width)


def _ink(colors: Array) -> Array:
    """Return how much ink is in each pixel, 0 to 1, shape (h, w), from RGBA (h, w, 4)."""
    rgb, alpha = colors[..., :3], colors[..., 3]
    if alpha.min() < 0.5:
        return alpha
    border = np.concatenate([rgb[0], rgb[-1], rgb[:, 0], rgb[:, -1]])
    difference = np.abs(rgb - np.median(border, axis=0)).max(axis=-1)
    most = difference.max()
    if most < _FAINT:
        raise ConfigError(
            "the image has one colour: use a colour other than the border, or a transparent "
            "background"
        )
    return difference / most


def _light(colors: Array) -> Array:
    """Return red, green and blue, 0 to 1, shape (3, h, w), from RGBA (h, w, 4)."""
    return np.moveaxis(colors[..., :3] * colors[..., 3:], -1, 0)


def _fit(values: Array, height: int, width: int) -> Array:
    """Scale (h, w) to the largest size in `height` × `width` that keeps its proportions."""
    from PIL import Image

    h, w = values.shape
    scale = min(height / h, width / w)
    # Pillow's box filter is the mean of a cell's pixels, and where cells are smaller, the nearest.
    size = (max(1, round(w * scale)), max(1, round(h * scale)))
    image = Image.fromarray(np.ascontiguousarray(values, np.float32))
    return np.asarray(image.resize(size, Image.Resampling.BOX))


def read_image(content: bytes, largest_side: int) -> tuple[npt.NDArray[np.uint8], tuple[int, int]]:
    """Return the pixels of an image, RGBA, shape (h, w, 4), and its rows and columns.

    It is reduced if a side is larger than `largest_side`. Raises ConfigError for what is no whole
    still image of a known format.
    """
    from PIL import ImageOps

    with opened(content, FORMATS, "is neither a text grid nor an image that can be read") as image:
        _require_usable(image)
        upright = ImageOps.exif_transpose(image)
        return _pixels(upright, largest_side), (upright.height, upright.width)


@contextmanager
def opened(content: bytes, formats: tuple[str, ...], otherwise: str) -> Iterator[Image.Image]:
    """Open an image of one of the formats, to be read at once.

    Raises ConfigError for a damaged image, and with the text `otherwise` for anything else.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Of files that declare more pixels than are good for the machine, and of odd metadata.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=formats) as image:
                yield image
    except (ConfigError, MemoryError):
        raise
    except Image.DecompressionBombError:
        raise ConfigError(f"the image has more than {MAX_PIXELS} pixels: scale it down") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{otherwise} ({', '.join(formats)})") from None
    except Exception as error:  # damaged bytes make Pillow raise nearly anything
        raise ConfigError(f"the image is damaged or cut off ({error}): save it again") from None


def _require_usable(image: Image.Image) -> None:
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise ConfigError(
            f"the image has {width}×{height} pixels, more than {MAX_PIXELS}: scale it down"
        )
    if getattr(image, "is_animated", False):
        raise ConfigError("the image is animated or has several pages: save one of them")


def _pixels(image: Image.Image, largest_side: int) -> npt.NDArray[np.uint8]:
    from PIL import Image

    if image.mode == "F" or image.mode.startswith("I"):
        # Grey of 16 bits or floating point, which Pillow would cut off at 255.
        grey = np.asarray(image, np.float32)
        full = 65535.0 if image.mode != "F" else max(float(np.nanmax(grey)), 1e-30)
        grey = np.clip(np.nan_to_num(grey / full), 0, 1)
        image = Image.fromarray((grey * 255).round().astype(np.uint8))
    if image.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
        image = image.convert("RGB")
    image = image.convert("RGBA")
    image.thumbnail((largest_side, largest_side), Image.Resampling.BOX)
    return np.asarray(image)
