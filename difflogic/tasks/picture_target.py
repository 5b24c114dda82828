"""From the name or the file of a picture to its rows, and to the grid that it grows on."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.tasks.pictures import center_picture, parse_picture, render_picture, shipped_pictures
from difflogic.tasks.section import Surroundings

MAX_TEXT_BYTES = 2**20
MAX_FILE_BYTES = 2**26
"""Above what an image of as many pixels as are accepted takes."""


def resolve_target(task: dict[str, Any], surroundings: Surroundings) -> None:
    """Replace the target in `task`, the keys of [task], by its rows.

    A text picture sets the height and width that are not given, or that stand in a file whose
    target is overridden; in a larger grid it stands in the middle. An image is scaled to the grid.
    Raises ConfigError for what is no picture, and for one that does not fit. Whatever else is
    wrong with [task] is left to the check.
    """
    target, loss_channels = task.get("target"), task.get("loss_channels", [0])
    if not isinstance(target, str) or not target.strip():
        return
    if not isinstance(loss_channels, list) or not loss_channels:
        return
    channels = len(loss_channels)
    if "\n" in target:
        content: str | bytes = target
    else:
        content = read_picture(target, surroundings.base("target"), surroundings.pictures)
    prefix = "" if "\n" in target else f"{target}: "
    try:
        if isinstance(content, str):
            _place_text(task, content, channels, surroundings)
        else:
            _place_image(task, content, channels)
    except ConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None


def _place_text(task: dict[str, Any], text: str, channels: int, surroundings: Surroundings) -> None:
    bits = parse_picture(text, channels)
    overridden = surroundings.overridden
    for side, size in zip(("height", "width"), bits.shape[1:], strict=True):
        stale = "target" in overridden and side not in overridden
        if stale or side not in task:
            task[side] = size
    grid = _grid(task)
    if grid is not None:
        task["target"] = render_picture(center_picture(bits, *grid))


def _place_image(task: dict[str, Any], content: bytes, channels: int) -> None:
    grid = _grid(task)
    if grid is not None:
        from difflogic.tasks.images import image_bits

        task["target"] = render_picture(image_bits(content, channels, *grid))


def _grid(task: dict[str, Any]) -> tuple[int, int] | None:
    """Return height and width, or None if they are none."""
    height, width = task.get("height"), task.get("width")
    if type(height) is int and type(width) is int and min(height, width) > 0:
        return height, width
    return None


def read_picture(name: str, base: Path, shipped: Path) -> str | bytes:
    """Return a picture by its shipped name or path: text, or an image file's content.

    Raises ConfigError if there is no such file, or it cannot be one.
    """
    names = shipped_pictures(shipped)
    path = names.get(name, base / name)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{name}: is not a picture file")
        if status.st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{name}: larger than {MAX_FILE_BYTES} bytes: this is not a picture")
        content = path.read_bytes()
    except FileNotFoundError:
        hint = did_you_mean(name, names)
        raise ConfigError(
            f'no picture "{name}": {hint} (a file of your own is named by its path; a relative '
            f"one starts at {base.absolute()})"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{name!r}: cannot be read: {reason}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content
    if any(not (sign.isprintable() or sign.isspace()) for sign in text[:4096]):
        return content
    if len(content) > MAX_TEXT_BYTES:
        raise ConfigError(f"{name}: larger than {MAX_TEXT_BYTES} bytes: this is not a text picture")
    return text
