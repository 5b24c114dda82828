"""The pixels of image files: the only place that opens them.

What a file may hold besides colours is read, too: transparency, palettes, greys of 16 bits, and the
orientation in its EXIF data. `read_image` is for pictures, which are scaled to a grid;
`read_frames` is for films, whose pixels must keep exact values.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from difflogic.circuit.colors import Color
from difflogic.system.array_types import Array, Bits, Int64s, Words
from difflogic.system.errors import ConfigError, shorten
from difflogic.system.quantities import format_ranges

if TYPE_CHECKING:
    from PIL import Image

IMAGE_FORMATS = ("PNG", "BMP", "GIF", "JPEG", "PPM", "TIFF", "WEBP")
"""Formats to open. Pillow would pass some of the others to external programs."""

MAX_PIXELS = 2**25
"""33 million pixels, as in a large photograph. Guards memory."""

DEEP_STEP = 257
"""One step of 8 bits, in the 16 bits of a film's pixels."""
PixelFilm = Words
"""Colours' numbers, shape (frames, height, width)."""
_SHIFTS = np.arange(48, -1, -16, dtype=np.uint64)
"""Places of red, green, blue and alpha in a colour's number."""


def read_image(content: bytes, largest_side: int) -> tuple[Bits, tuple[int, int]]:
    """Return the RGBA pixels of an image, (h, w, 4), and its own rows and columns.

    It is reduced if a side is larger than `largest_side`. Raises ConfigError unless it is a
    complete still image of a known format.
    """
    from PIL import Image, ImageOps

    with _opened(content, "is neither a text grid nor an image that can be read") as image:
        *_, last = places = _places(image)
        if len(places) > 1:
            raise ConfigError(
                "the image is animated or has several pages: save one of them; a start may be one "
                "of them, by --frame"
            )
        image.seek(last)
        pixels = _rgba(ImageOps.exif_transpose(image))
        if pixels.dtype != np.uint8:
            pixels = (pixels / DEEP_STEP).round().astype(np.uint8)
        small = Image.fromarray(pixels)
        small.thumbnail((largest_side, largest_side), Image.Resampling.BOX)
        return np.asarray(small), pixels.shape[:2]


def read_frames(content: bytes, otherwise: str) -> tuple[PixelFilm, str]:
    """Return a number for the colour of each pixel, (frames, height, width), see `unpacked`.

    Fully transparent pixels are 0. The text says which frames stay longer than others: a writer may
    have merged equal ones. Raises ConfigError, with the text `otherwise` for what is no image, and
    for colours whose exact values Pillow does not read.
    """
    from PIL import ImageOps

    found = list[PixelFilm]()
    stays = list[float]()
    with _opened(content, otherwise) as image:
        if image.format == "PNG" and content[24] > 8 and content[25]:  # depth, and no plain grey
            raise ConfigError("has colours of 16 bits, and only 8 would be read: save it with 8")
        for place in _places(image):
            image.seek(place)
            if (len(found) + 1) * image.width * image.height > MAX_PIXELS:
                raise ConfigError(f"has more than {MAX_PIXELS} pixels: cut it")
            read = _rgba(ImageOps.exif_transpose(image))
            stays.append(image.info.get("duration", 0))  # WebP tells it when the pixels are read
            pixels = read.astype(np.uint64) * np.uint64(DEEP_STEP if read.dtype == np.uint8 else 1)
            numbers = pixels @ (np.uint64(1) << _SHIFTS)
            found.append(np.where(pixels[..., 3] > 0, numbers, 0))
            if found[-1].shape != found[0].shape:
                raise ConfigError(f"frame {len(found) - 1} has another size than frame 0")
    return np.stack(found), _longer(stays)


def changes(film: Array) -> list[Int64s]:
    """Return which rows, and which columns, differ from the one before in some frame.

    `film` has the shape (frames, height, width).
    """
    found = []
    for axis in (1, 2):
        lines = np.moveaxis(film, axis, 0)
        found.append(np.flatnonzero((lines[1:] != lines[:-1]).any(axis=(1, 2))) + 1)
    return found


def cell_side(film: Array) -> int:
    """Return the side of the largest squares of one colour each that divide all frames."""
    return int(np.gcd.reduce(np.concatenate([film.shape[1:], *changes(film)])))


def _places(image: Image.Image) -> range:
    """Return the numbers of an image's frames; an APNG's poster does not count."""
    return range(getattr(image, "default_image", False), getattr(image, "n_frames", 1))


def _longer(stays: Sequence[float]) -> str:
    """Say which frames stay longer than the shortest. The last one may be a pause."""
    each = min(stays[:-1], default=0)
    long = [number for number, stay in enumerate(stays) if stay > each and stay >= 2 * each]
    if not long or len(stays) == 1:
        return ""
    if long == [len(stays) - 1]:
        return f"the last frame stays {stays[-1]:g} ms, others {each:g} ms: it counts once"
    which = shorten(format_ranges(long))
    stay = f"frame {which} stays" if len(long) == 1 else f"frames {which} stay"
    return (
        f"{stay} longer than {each:g} ms: each counts once; if equal frames were merged there, "
        "give them all, as an .npz"
    )


def unpacked(numbers: PixelFilm) -> Int64s:
    """Return red, green, blue and alpha, 16 bits each, shape (…, 4)."""
    return (numbers[..., None] >> _SHIFTS & np.uint64(0xFFFF)).astype(np.int64)


def color_number(text: str) -> int:
    """Return the number, see `read_frames`, of a colour by name or as "#rrggbb", or ConfigError."""
    from PIL import ImageColor

    try:
        if text.startswith("grey:"):
            values = [int(text[5:])] * 3 + [0xFFFF]
        else:
            color = (0,) * 4 if text == "transparent" else (*ImageColor.getrgb(text), 255)[:4]
            values = [DEEP_STEP * each for each in color]
        return int.from_bytes(b"".join(value.to_bytes(2) for value in values))
    except (ValueError, OverflowError):
        raise ConfigError(
            f'"{text}" is no colour: give names, such as white, black and transparent, or #d63031'
        ) from None


def color_name(number: int) -> str:
    """Return the name of a colour, which `color_number` reads."""
    names = {color_number(name): name for name in ("transparent", "white", "black")}
    values = [number >> shift & 0xFFFF for shift in (48, 32, 16, 0)]
    if any(value % DEEP_STEP for value in values):
        return f"grey:{values[0]}"
    text = bytes(value // DEEP_STEP for value in values).hex()
    return names.get(number, "#" + (text[:6] if text.endswith("ff") else text))


def opaque_colors(names: Sequence[str]) -> tuple[Color, ...]:
    """Return the colours of names that `color_number` reads; () if one is not opaque, or finer."""
    shades = unpacked(np.array([color_number(name) for name in names], np.uint64))
    if (shades[:, 3] != 0xFFFF).any() or (shades % DEEP_STEP).any():
        return ()
    return tuple((r // DEEP_STEP, g // DEEP_STEP, b // DEEP_STEP) for r, g, b, _ in shades.tolist())


@contextmanager
def _opened(content: bytes, otherwise: str) -> Iterator[Image.Image]:
    """Open an image of one of IMAGE_FORMATS, to be read inside the context.

    Raises ConfigError for a damaged image, and with the text `otherwise` for anything else.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # About very large images and odd metadata.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=IMAGE_FORMATS) as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    raise ConfigError(
                        f"the image has {width}×{height} pixels, more than {MAX_PIXELS}: scale it "
                        "down"
                    )
                yield image
    except (ConfigError, MemoryError):
        raise
    except Image.DecompressionBombError:
        raise ConfigError(f"the image has more than {MAX_PIXELS} pixels: scale it down") from None
    except UnidentifiedImageError:
        raise ConfigError(f"{otherwise} ({', '.join(IMAGE_FORMATS)})") from None
    except Exception as error:  # damaged files make Pillow raise nearly anything
        raise ConfigError(f"the image is damaged or cut off ({error}): save it again") from None


def _rgba(image: Image.Image) -> Array:
    """Return RGBA (h, w, 4): of 16 bits for greys with more than 8, which Pillow would clip."""
    if image.mode == "F" or image.mode.startswith("I"):
        grey = np.asarray(image)
        if image.mode == "F" or (grey >> 16).any():
            raise ConfigError("has greys of 32 bits: save it with 16; a film may be an .npz, too")
        alpha = np.where(grey == image.info.get("transparency"), 0, 0xFFFF)
        return np.stack([grey, grey, grey, alpha], axis=-1).astype(np.uint16)
    if image.mode not in ("RGB", "RGBA", "L", "LA", "P", "PA", "1"):
        image = image.convert("RGB")
    return np.asarray(image.convert("RGBA"))
