"""Replaces the name of a picture in [task] by its rows, so that a run keeps its picture."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from difflogic.pictures.images import image_bits
from difflogic.pictures.picture import read_picture
from difflogic.pictures.text import center_picture, parse_picture, render_picture
from difflogic.system.errors import errors_about


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
    is_drawn = "\n" in target
    content = target if is_drawn else read_picture(target, base)
    with nullcontext() if is_drawn else errors_about(target):
        if isinstance(content, str):
            bits = parse_picture(content, channels)
            for side, size in zip(("height", "width"), bits.shape[1:], strict=True):
                stale = "target" in overridden and side not in overridden
                if stale or side not in task:
                    task[side] = size
        height = task.get("height")
        width = task.get("width")
        if type(height) is not int or type(width) is not int or min(height, width) < 1:
            return
        if isinstance(content, bytes):
            bits = image_bits(content, channels, height, width)
        task["target"] = render_picture(center_picture(bits, height, width))
