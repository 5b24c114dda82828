"""Replaces the name of a picture in [task] by its rows, so that a run keeps its picture."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from difflogic.pictures.images import image_bits
from difflogic.pictures.picture import read_picture
from difflogic.pictures.text import center_picture, parse_picture, render_picture
from difflogic.system.errors import ConfigError


def resolve_target(task: dict[str, Any], base: Path, overridden: Collection[str]) -> None:
    """Replace the target in `task`, the keys of [task], by its rows. Its path starts at `base`.

    A text picture sets a missing height or width, and also one from a file if an override sets the
    target, as `overridden` keys say. In a larger grid it is in the middle. An image is scaled to
    the grid. Raises ConfigError unless the target is a picture that fits. The check finds other
    problems of [task].
    """
    target = task.get("target")
    loss_channels = task.get("loss_channels", [0])
    if not isinstance(target, str) or not target.strip():
        return
    if not isinstance(loss_channels, list) or not loss_channels:
        return
    channels = len(loss_channels)
    if "\n" in target:
        content: str | bytes = target
    else:
        content = read_picture(target, base)
    prefix = "" if "\n" in target else f"{target}: "
    try:
        if isinstance(content, str):
            _place_text(task, content, channels, overridden)
        else:
            _place_image(task, content, channels)
    except ConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None


def _place_text(
    task: dict[str, Any], text: str, channels: int, overridden: Collection[str]
) -> None:
    bits = parse_picture(text, channels)
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
        task["target"] = render_picture(image_bits(content, channels, *grid))


def _grid(task: dict[str, Any]) -> tuple[int, int] | None:
    """Return height and width; None if they are missing or invalid."""
    height = task.get("height")
    width = task.get("width")
    if type(height) is int and type(width) is int and min(height, width) > 0:
        return height, width
    return None
