"""A long asynchronous run under random damage, as published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from difflogic.evaluation.asynchronous import FIRE_RATE
from difflogic.evaluation.scene import Damage, scene_of
from difflogic.evaluation.subject import CircuitTest, Draw, Subject, require_any_grid
from difflogic.evaluation.trial import count_wrong

SIDE, DAMAGED, STEPS, SETTLED = 64, 10, 4000, 200
"""64×64 cells, a random 10×10 of them zeroed after each step; errors count after step 200."""
STARTS = 8

PUBLISHED = {"asynchronously trained": 676, "synchronously trained": 1107}
"""Mean wrong cells of 4096, by Miotti et al. 2025."""


def run(subject: Subject) -> dict[str, Any]:
    """Return the mean number of wrong cells over all starts and all steps after the 200th."""
    trained = subject.config.automaton.fire_rate
    scene = replace(
        scene_of(
            subject.task.on_grid(SIDE, SIDE),
            subject.streams(Draw.ROBUSTNESS),
            range(SETTLED + 1, STEPS + 1),
        ),
        fire_rate=FIRE_RATE if trained == 1 else trained,
        damage=Damage(DAMAGED, STEPS, anywhere=True),
    )
    starts = subject.starts or STARTS
    wrong = count_wrong(subject.model.netlist, subject.ops, scene, starts)
    mode = "synchronously trained" if trained == 1 else "asynchronously trained"
    means = wrong.mean(axis=0)
    return {
        "height": SIDE,
        "width": SIDE,
        "fire_rate": scene.fire_rate,
        "steps": STEPS,
        "first_step": SETTLED + 1,
        "starts": starts,
        "cells": scene.cells,
        "mean_wrong_cells": float(means.mean()),
        "best_start": float(means.min()),
        "worst_start": float(means.max()),
        "least_wrong_cells": int(wrong.min()),
        "most_wrong_cells": int(wrong.max()),
        "trained": mode,
        "published": PUBLISHED,
        "notes": [
            f"A {DAMAGED}×{DAMAGED} square anywhere is zeroed after each step, and counts like "
            "all other cells."
        ],
    }


ROBUSTNESS = CircuitTest(
    "robustness",
    "mean error over a long asynchronous run under random damage",
    require_any_grid,
    run,
)
