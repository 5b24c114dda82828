"""`dct render`: draws a rollout as an animation, or as a strip of frames for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cli.errors import note
from cli.options.common import ConditionOptions, Force, Source, flag, number, option, with_options
from cli.progress import show_progress
from difflogic.system.quantities import parse_ranges


@with_options
def render(
    source: Source,
    file: Annotated[
        Path, option("FILE", "Animation (.gif, .apng, .webp) or strip (.png)", "--output", "-o")
    ],
    options: ConditionOptions,
    larger: Annotated[
        bool, flag("--larger", "Show a grid of four times the side next to it")
    ] = False,
    every: Annotated[int, number("Show every Nth step", 1)] = 1,
    at: Annotated[
        str | None,
        option("STEPS", "Show only these steps, such as 0,5,10-12", shown="all; six in a strip"),
    ] = None,
    channels: Annotated[
        str | None,
        option(
            "LIST",
            "Channels to show: up to three as colours, any number with --sheet",
            shown="the visible ones",
        ),
    ] = None,
    sheet: Annotated[
        bool, flag("--sheet", "Draw each channel separately, hidden ones too")
    ] = False,
    scale: Annotated[
        int | None, number("Pixels per cell", 1, 4096, shown="about 256 pixels in all")
    ] = None,
    fps: Annotated[float, option("N", "Frames per second", min=0.1, max=50)] = 10,
    force: Force = False,
) -> None:
    """Draw a rollout: cells as exact squares, few colours, small files.

    The bits are those of dct simulate with the same options. The frame after a damaged step shows
    the damage.

    Try: dct render last -o growth.gif --steps 60 --damage 30:4,4,8x8 --larger
    """
    from difflogic.library.rendering import render as draw

    with show_progress() as progress:
        found = draw(
            source,
            file,
            options.conditions,
            larger=larger,
            every=every,
            at=() if at is None else parse_ranges("--at", at),
            channels=() if channels is None else parse_ranges("--channels", channels),
            sheet=sheet,
            scale=scale,
            frames_per_second=fps,
            force=force,
            progress=progress,
        )
    note(
        f"saved {found.file}: {len(found.steps)} frames of {found.height}×{found.width} pixels, "
        f"{found.bytes / 1000:.1f} kB"
    )
