"""Larger grids and longer times than the circuit was trained for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.engine.hard import Bits
from difflogic.engine.layout import Grid
from difflogic.evaluation.counts import Count
from difflogic.evaluation.scene import resized, scene_of
from difflogic.evaluation.suite import Draw, Subject, Suite
from difflogic.tasks import make_task

TIMES = 4
"""Sides and steps of a checkerboard, as published: 16×16 for 20 becomes 64×64 for 80."""
PICTURE_TIMES = 2
"""Sides of a picture's grid, as published: 20×20 becomes 40×40, for as many steps."""
STARTS = 16


def refuse(config: Config) -> str | None:
    """Say why there is no larger grid to try, None if there is."""
    if config.task.kind == "life":
        return "for life, exactness compares a larger grid and a longer time with the real rule"
    if config.task.kind == "pattern" and config.automaton.boundary == "zero":
        return "the picture finds its place by the zero boundary, which a larger grid moves away"
    if config.task.kind == "pattern" and config.task.start == "zeros":
        return "the picture has no start cell, so that a larger grid has no place for it"
    return None


def run(subject: Subject) -> dict[str, Any]:
    """Count wrong cells on a grid of several times the side."""
    if subject.config.task.kind == "pattern":
        return {"counts": _picture(subject), "notes": [_PICTURE_NOTE]}
    config = subject.config
    large = resized(config, TIMES * config.task.height, TIMES * config.task.width)
    steps = TIMES * config.automaton.steps
    scene = scene_of(large, subject.streams(Draw.GENERALISATION), (steps, steps + 1))
    counts = subject.count(
        f"{TIMES} × side, {TIMES} × steps", scene, subject.starts or STARTS
    )  # fmt: skip
    return {"counts": counts, "notes": []}


_PICTURE_NOTE = "The target is the picture around the start cell, and nothing elsewhere."


def _picture(subject: Subject) -> list[Count]:
    config = subject.config
    scene = scene_of(config, subject.streams(Draw.GENERALISATION), (config.automaton.steps,))
    height, width = scene.grid.height, scene.grid.width
    grid = Grid(PICTURE_TIMES * height, PICTURE_TIMES * width, scene.grid.boundary)
    # The cell (H // 2, W // 2) of the large grid is that of the small one, so much further.
    y, x = grid.height // 2 - height // 2, grid.width // 2 - width // 2
    start, picture = make_task(config).sample(np.random.default_rng(0))

    def draw(first: int, batch: int) -> tuple[Bits, Bits]:
        def enlarge(small: Bits) -> Bits:
            large = np.zeros((batch, len(small), grid.height, grid.width), np.uint8)
            large[:, :, y : y + height, x : x + width] = small
            return large

        return enlarge(start), enlarge(picture.astype(np.uint8))

    starts = 1 if config.automaton.fire_rate == 1 else subject.starts or STARTS
    large = replace(scene, grid=grid, draw=draw)
    return subject.count(f"{PICTURE_TIMES} × side, same steps", large, starts)


GENERALISATION = Suite(
    "generalisation", "larger grids and longer times than in training", refuse, run
)
