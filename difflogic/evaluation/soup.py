"""A random soup, compared with the task's own rule cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from difflogic.evaluation.counts import Count
from difflogic.evaluation.scene import scene_of
from difflogic.evaluation.subject import Draw, Subject
from difflogic.evaluation.trial import count_wrong

SOUP_SIDE, SOUP_STEPS = 128, 300
"""As published: 128×128 cells for 300 steps."""


def soup(subject: Subject) -> dict[str, Any]:
    """Run a soup of fair bits beside the real rule, and compare after every step.

    Only for tasks whose targets move on. A circuit that was trained for T steps is compared after
    every T of them. Returns the counts of all compared steps together and the first step with a
    wrong cell, None if there is none.
    """
    steps = subject.config.automaton.steps
    torus = subject.task.on_grid(SOUP_SIDE, SOUP_SIDE, boundary="periodic", steps=1)
    at = range(steps, max(SOUP_STEPS, steps) + 1, steps)
    scene = scene_of(torus, subject.streams(Draw.SOUP), tuple(at))
    wrong = count_wrong(subject.model.netlist, subject.ops, scene, 1)
    bad = np.flatnonzero(wrong[:, 0])
    count = Count(
        f"random soup, {len(at)} steps together",
        scene.grid.height,
        scene.grid.width,
        scene.fire_rate,
        at[-1],
        1,
        int(len(bad) > 0),
        scene.cells * len(at),
        int(wrong.sum()),
    )
    return {"count": count, "first_wrong_step": at[int(bad[0])] if len(bad) else None}
