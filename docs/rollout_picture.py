"""Draw a trained automaton at work: python docs/rollout_picture.py RUN [OUTPUT.png].

The upper row is the grid it was trained on, from a random start; the lower row is a grid of four
times the side. Shows channel 0 of the hard circuit.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from difflogic import Model
from difflogic.engine.hard import HardSimulator
from difflogic.engine.layout import Grid
from difflogic.streams import Purpose, stream

SIDE, GAP, LABEL = 128, 14, 18
COLORS = np.array([[245, 242, 235], [28, 52, 84]], dtype=np.uint8)


def frames(model: Model, scale: int, steps: tuple[int, ...]) -> list[Image.Image]:
    """Roll the hard circuit out on a grid `scale` times as wide; one picture per step."""
    config = model.config
    grid = Grid(config.task.height * scale, config.task.width * scale, config.automaton.boundary)
    simulator = HardSimulator(model.netlist, grid, batch=1)
    simulator.load(model.ops)
    rng = stream(config.training.seed, Purpose.HELD_OUT_START)
    shape = (1, config.automaton.channels, grid.height, grid.width)
    start = rng.integers(0, 2, size=shape, dtype=np.uint8)
    pictures = []
    for step in steps:
        cells = simulator.rollout(start, step)[0, config.task.loss_channels[0]]
        picture = Image.fromarray(COLORS[cells])
        pictures.append(picture.resize((SIDE, SIDE), Image.Resampling.NEAREST))
    return pictures


def main(run: str, output: str = "docs/rollout.png") -> None:
    """Draw the model of a run directory."""
    model = Model.load(Path(run) / "model.npz")
    rows = [(1, (0, 4, 8, 12, 16, 20)), (4, (0, 16, 32, 48, 64, 80))]
    width = len(rows[0][1]) * (SIDE + GAP) + GAP
    height = len(rows) * (SIDE + GAP + LABEL) + GAP
    sheet = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(sheet)
    for line, (scale, steps) in enumerate(rows):
        top = GAP + line * (SIDE + GAP + LABEL)
        for column, (step, picture) in enumerate(
            zip(steps, frames(model, scale, steps), strict=True)
        ):
            left = GAP + column * (SIDE + GAP)
            sheet.paste(picture, (left, top))
            side = model.config.task.width * scale
            text = f"{side} x {side}, step {step}"
            draw.text((left, top + SIDE + 3), text, fill="black")
    sheet.save(output, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
