"""A random soup, compared with the real rule cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.hard import Bits
from difflogic.engine.layout import Grid
from difflogic.evaluation.counts import Count
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.suite import Draw, Subject
from difflogic.evaluation.trial import count_wrong
from difflogic.streams import stream
from difflogic.tasks.life import Life

SOUP_SIDE, SOUP_STEPS = 128, 300
"""As published: 128×128 cells for 300 steps."""


def life_on_torus(config: Config, height: int, width: int) -> Life:
    """Return the life task of a configuration, one generation on a torus of another size."""
    channels, task = config.automaton.channels, config.task
    return Life(channels, height, width, "periodic", 1, task.rule, task.loss_channels)


def soup(subject: Subject) -> dict[str, Any]:
    """Run a soup of fair bits beside the real rule, and compare after every step.

    A circuit that was trained for T steps is compared after every T of them. Returns the counts
    of all compared steps together and the first step with a wrong cell, None if there is none.
    """
    config = subject.config
    steps = config.automaton.steps
    life = life_on_torus(config, SOUP_SIDE, SOUP_SIDE)
    streams = subject.streams(Draw.SOUP)

    def draw(first: int, batch: int) -> tuple[Bits, npt.NDArray]:
        samples = [
            life.sample(stream(streams.seed, streams.start, streams.epoch, first + index))
            for index in range(batch)
        ]
        starts, targets = zip(*samples, strict=True)
        return np.stack(starts), np.stack(targets)

    at = range(steps, max(SOUP_STEPS, steps) + 1, steps)
    grid = Grid(SOUP_SIDE, SOUP_SIDE, "periodic")
    scene = Scene(
        grid, draw, streams, tuple(at), life.loss_channels, advance=life.advance, first_target=1
    )
    wrong = count_wrong(subject.model.netlist, subject.ops, scene, 1)
    bad = np.flatnonzero(wrong[:, 0])
    count = Count(
        f"random soup, {len(at)} steps together", grid.height, grid.width, 1.0, at[-1], 1,
        int(len(bad) > 0), scene.cells * len(at), int(wrong.sum()),
    )  # fmt: skip
    return {"count": count, "first_wrong_step": at[int(bad[0])] if len(bad) else None}
