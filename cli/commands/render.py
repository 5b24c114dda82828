"""`dct render`: a rollout as an animation, or as a strip of frames for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import note
from cli.options.parsing import parse_channels, parse_damage, parse_size, whole_number
from cli.options.sources import Source
from cli.terminal import output
from cli.watching import watched


def render(
    source: Source,
    file: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it: an animation as .gif, .apng or .webp, a strip as .png.",
        ),
    ],
    size: Annotated[
        str | None, typer.Option(metavar="HxW", help="Rows and columns.", show_default="as trained")
    ] = None,
    larger: Annotated[
        bool, typer.Option("--larger", help="Show four times the side beside it, damaged alike.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0), metavar="N", help="Steps to take.", show_default="as trained"
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="Show every N-th step.")
    ] = 1,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="STEPS",
            help="Show these steps instead: 0,5,10-12.",
            show_default="all; six of a strip",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="START",
            help="random, center, zeros, or a file, as for dct simulate.",
            show_default="as trained",
        ),
    ] = None,
    density: Annotated[
        float, typer.Option(min=0, max=1, help="Share of ones in a random start.")
    ] = 0.5,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, 2**63 - 1), metavar="N", help="Names starts and fire masks."
        ),
    ] = 0,
    fire_rate: Annotated[
        float | None,
        typer.Option(help="Share of cells that change in a step.", show_default="as trained"),
    ] = None,
    boundary: Annotated[
        str | None, typer.Option(help="zero or periodic.", show_default="as trained")
    ] = None,
    damage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP:Y,X,HxW",
            help="Zero the H rows and W columns from row Y and column X on after a step, or after "
            "several: 10,20:0,0,8x8; may be given again.",
        ),
    ] = None,
    channels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Show these channels: up to three as colours, or any as a sheet.",
            show_default="the visible ones",
        ),
    ] = None,
    sheet: Annotated[
        bool, typer.Option("--sheet", help="Draw each channel by itself, hidden ones too.")
    ] = False,
    scale: Annotated[
        int | None,
        typer.Option(parser=whole_number(1, 4096), metavar="N", help="Pixels of a cell's side."),
    ] = None,
    fps: Annotated[float, typer.Option(min=0.1, max=50, help="Frames per second.")] = 10,
    unsimplified: Annotated[
        bool,
        typer.Option("--unsimplified", help="Run the circuit as trained, with all its channels."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what was written as one JSON object.")
    ] = False,
) -> None:
    """Draw a rollout: cells as exact squares, few colours, small files.

    The bits are those of dct simulate with the same options. A frame after a step with damage shows
    the damage.

    Try: dct render last -o growth.gif --steps 60 --damage 30:4,4,8x8 --larger
    """
    from difflogic.library.rendering import render as draw

    with watched() as progress:
        found = draw(
            source,
            file,
            size=None if size is None else parse_size("--size", size),
            larger=larger,
            steps=steps,
            every=every,
            at=() if at is None else parse_channels(at, "--at"),
            start=start,
            density=density,
            seed=seed,
            fire_rate=fire_rate,
            boundary=boundary,
            damage=[parse_damage(text) for text in damage or []],
            channels=() if channels is None else parse_channels(channels),
            sheet=sheet,
            scale=scale,
            frames_per_second=fps,
            unsimplified=unsimplified,
            force=force,
            progress=progress,
        )
    if as_json:
        output.show_json(
            {
                "file": str(found.file),
                "steps": list(found.steps),
                "height": found.height,
                "width": found.width,
                "bytes": found.bytes,
            }
        )
    note(
        f"saved {found.file}: {len(found.steps)} frames of {found.height}×{found.width} pixels, "
        f"{found.bytes / 1000:.1f} kB"
    )
