"""`dct train-pattern`: options as configuration overrides, and the preview of the picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difflogic.config import Override
    from difflogic.tasks import Preview


def picture_override(target: str) -> Override:
    """Return the override for a picture: a file or a shipped name."""
    from difflogic.config import Override

    path = Path(target)
    looks_like_a_path = path.suffix != "" or len(path.parts) > 1
    name = str(path.absolute()) if looks_like_a_path or path.is_file() else target
    text = f"task.target={json.dumps(name, ensure_ascii=False)}"
    return Override(text, f"--target {target}")


def picture_name(target: str) -> str:
    """Return the name of an experiment that grows this picture, from its file name."""
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in Path(target).stem)
    return f"pattern-{stem}"[:64]


def circuit_for(channels: int, source: str) -> list[Override]:
    """Return overrides for a number of channels, with an update circuit to fit."""
    from difflogic.config import Override, load_config
    from difflogic.config.layer_widths import fit_layer_widths

    config = load_config(source)
    inputs = channels * (1 + config.perception.kernels * config.perception.gates[-1])
    gates = fit_layer_widths(config.update.gates, inputs, channels)
    flag = f"--channels {channels}"
    return [
        Override(f"automaton.channels={channels}", flag),
        Override(f"update.gates={list(gates)}", flag),
    ]


def show_preview(preview: Preview) -> None:
    """Show the target picture on stderr."""
    from rich.console import Console

    from cli.errors import note
    from cli.terminal import display, drawing
    from difflogic.tasks.pictures import render_picture

    note(preview.caption)
    console = Console(stderr=True, highlight=False)
    colored = drawing.has_color(console)
    # As text if this is no terminal, or if letters stand for colours.
    if not display.can_animate() or (len(preview.bits) > 1 and not colored):
        note(render_picture(preview.bits).rstrip("\n"))
        return
    for line in drawing.cells(preview.bits, preview.bits.shape[1], colored):
        console.print(line, no_wrap=True, crop=True)
