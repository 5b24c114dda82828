"""A picture to grow, read by its shipped name or its file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from difflogic.circuit.colors import Color
from difflogic.pictures.images import MOST_PICTURE_SIDE, Quantised, image_bits, quantise
from difflogic.pictures.text import center_picture, parse_picture
from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError, MissingFileError, did_you_mean, errors_about
from difflogic.system.files import nearest, read_named
from difflogic.system.quantities import counted

MOST_PICTURE_TEXT_BYTES = 2**20
MOST_IMAGE_BYTES = 2**26
"""More than an image of the largest accepted size needs."""

USUAL_GRIDS = {1: (20, 20), 3: (16, 16)}
"""Values of `--colors` that are bits of the picture, without a palette: ink, or RGB. For each the
default rows and columns: those of the lizard and the letter G."""

IMAGE_SUFFIXES = (".png", ".gif", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")


@dataclass(frozen=True)
class Picture:
    """A picture to grow."""

    name: str
    bits: Bits
    """Shape (channels, height, width)."""
    palette: tuple[Color, ...] = ()
    words: str = ""
    """Its origin, for people."""
    warning: str = ""
    """What scaling and the palette lost, if anything."""


def picture_directory() -> Path:
    """Return the directory of the shipped pictures."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "configs"
    return (installed if installed.is_dir() else package.parent / "configs") / "pictures"


def shipped_pictures() -> dict[str, Path]:
    """Return the files of the shipped pictures, by name."""
    files = sorted(picture_directory().glob("*.txt"), key=lambda path: path.stem)
    return {path.stem: path for path in files}


def read_picture(name: str, base: Path | None = None) -> str | bytes:
    """Return a picture by its shipped name or its path: text, or an image file's content.

    A relative path starts at `base`, by default the working directory. Raises ConfigError if the
    file is missing or cannot be a picture, or if it is text in a file named like an image.
    """
    names, base = shipped_pictures(), base or Path()
    path = names.get(name, base / os.path.expanduser(name))
    try:
        content = read_named(path, MOST_IMAGE_BYTES, "a picture")
    except MissingFileError:
        if path.suffix or len(Path(name).parts) > 1:
            raise ConfigError(f"{path}: no such picture{nearest(path, names)}") from None
        hint = did_you_mean(name, names)
        raise ConfigError(f'no picture "{name}": {hint} (or name your own file)') from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content
    if any(not (sign.isprintable() or sign.isspace()) for sign in text[:4096]):
        return content
    if len(content) > MOST_PICTURE_TEXT_BYTES:
        raise ConfigError(
            f"{name}: larger than {MOST_PICTURE_TEXT_BYTES} bytes: this is not a text picture"
        )
    if path.suffix.lower() in IMAGE_SUFFIXES:
        raise ConfigError(
            f"{name}: is text, though its name ends in {path.suffix}: save the image again, or "
            "rename rows of cells to .txt"
        )
    return text


def is_image(target: str) -> bool:
    """Return whether a picture, given by its shipped name or file, is an image and not text.

    Raises ConfigError if it cannot be read.
    """
    return not isinstance(read_picture(target), str)


def read(
    target: str,
    colors: int | None = None,
    size: tuple[int, int] | None = None,
    palette: Sequence[Color] | None = None,
) -> Picture:
    """Read a picture by its shipped name or its file: an image, or rows of text.

    An image gets a palette of at most `colors`: 2, 4, 8 or 16, by default as many as it needs, or
    the given `palette`. With 1 or 3 colours it has bits instead: ink, or red,
    green and blue. Raises ConfigError for a file that is not a picture.
    """
    content = read_picture(target)
    with errors_about(target):
        _require_grid(size)
        if isinstance(content, str):
            if palette:
                raise ConfigError("is text: only images take a palette")
            return _from_text(target, content, colors, size)
        if colors in USUAL_GRIDS:
            bits = image_bits(content, colors, *(size or USUAL_GRIDS[colors]))
            return Picture(target, bits, words=f"an image as {counted(len(bits), 'bit')} a cell")
        found = quantise(content, colors, size, palette or ())
    height, width = found.bits.shape[1:]
    rows, columns = found.pixels
    words = (
        f"{columns}×{rows} pixels as {width}×{height} cells, {found.used} colours with the "
        f"background ({counted(len(found.bits), 'bit')})"
        + (f"; {found.side} pixels to a side of each cell" if found.side > 1 else "")
    )
    lost = _lost(found, (rows // found.side, columns // found.side), (height, width))
    return Picture(target, found.bits, found.palette, words, lost)


def _require_grid(size: tuple[int, int] | None) -> None:
    """Raise ConfigError for a grid that is too large to scale an image to."""
    if size is not None and max(size) > MOST_PICTURE_SIDE:
        most = f"{MOST_PICTURE_SIDE}×{MOST_PICTURE_SIDE}"
        raise ConfigError(
            f"{size[0]}×{size[1]} cells are more than {most}: choose a smaller grid with --size"
        )


def _lost(found: Quantised, pixels: tuple[int, int], cells: tuple[int, int]) -> str:
    """Return what scaling and the palette lost, in words; sizes are (rows, columns)."""
    lost = []
    if pixels != cells:
        lost.append(
            f"scaled from {pixels[1]}×{pixels[0]} pixels to {cells[1]}×{cells[0]} cells: --size "
            f"HxW chooses another grid, up to {MOST_PICTURE_SIDE}x{MOST_PICTURE_SIDE}"
        )
    if found.found > found.used:
        lost.append(f"{found.found} colours became {found.used}: --colors takes 2, 4, 8 or 16")
    return "; ".join(lost)


def _from_text(name: str, text: str, colors: int | None, size: tuple[int, int] | None) -> Picture:
    channels: Sequence[int] = (1, 3, 2, 4)
    if colors is not None:
        channels = (colors if colors in USUAL_GRIDS else (colors - 1).bit_length(),)
    for number in channels:
        try:
            bits = parse_picture(text, number)
            break
        except ConfigError:
            if number == channels[-1]:
                raise
    if size is not None:
        bits = center_picture(bits, *size)
    return Picture(name, bits, words=f"rows of text, {counted(len(bits), 'bit')} a cell")
