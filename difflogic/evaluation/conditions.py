"""The circuit under other conditions than in training: larger grids, damage, other fire rates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from difflogic.evaluation.scene import Damage, scene_of
from difflogic.evaluation.subject import (
    CircuitTest,
    Draw,
    Subject,
    require_any_grid,
    require_lasting_target,
)
from difflogic.evaluation.trial import count_wrong
from difflogic.tasks import Task

LARGER_STARTS = 16

SQUARE_SIDE, SQUARE = 64, 20
"""As published: the middle 20×20 of 64×64 cells."""
SQUARE_TIMES = 4
"""Steps, as a multiple of the training steps: 80 for the synchronous checkerboard, as published."""
SQUARE_STARTS = 16

FIRE_RATE = 0.6
"""Of asynchronous inference, as published."""
MODE_TIMES = (1, 2, 4)
MODE_STARTS = 64

LONG_SIDE, LONG_SQUARE, LONG_STEPS, SETTLED = 64, 10, 4000, 200
"""64×64 cells, a random 10×10 of them zeroed after each step; errors count after step 200."""
LONG_STARTS = 8


def generalisation(subject: Subject) -> dict[str, Any]:
    """Count wrong cells on the task's larger grid."""
    larger = subject.task.larger()
    scene = scene_of(larger.task, subject.streams(Draw.GENERALISATION), larger.steps)
    is_one = not larger.task.has_random_start and subject.config.automaton.fire_rate == 1
    counts = subject.count(larger.what, scene, 1 if is_one else subject.starts or LARGER_STARTS)
    return {"counts": counts, "notes": [] if larger.note is None else [larger.note]}


def _require_larger(task: Task) -> None:
    task.larger()


def fault(subject: Subject) -> dict[str, Any]:
    """Zero the middle after every step, and count wrong cells outside it."""
    return _damaged(subject, "outside the damage", heals=False)


def healing(subject: Subject) -> dict[str, Any]:
    """Zero the middle during the first half of the steps, and count wrong cells everywhere."""
    return _damaged(subject, "everywhere", heals=True)


def _damaged(subject: Subject, what: str, heals: bool) -> dict[str, Any]:
    steps = SQUARE_TIMES * subject.config.automaton.steps
    until = steps // 2 if heals else steps
    damage, task = Damage(SQUARE, until), subject.task.on_grid(SQUARE_SIDE, SQUARE_SIDE)
    scene = scene_of(task, subject.streams(Draw.DAMAGE), (steps,))
    ignored = None if heals else damage.middle(scene.grid)
    scene = replace(scene, damage=damage, ignored=ignored)
    counts = subject.count(what, scene, subject.starts or SQUARE_STARTS)
    note = f"The middle {SQUARE}×{SQUARE} cells are zeroed after each of steps 1 to {until}."
    return {"counts": counts, "damaged_steps": until, "notes": [note]}


def asynchronous(subject: Subject) -> dict[str, Any]:
    """Count wrong cells in both modes of updating, after equally many updates per cell on average.

    In T training steps a cell updates T · fire rate times; at fire rate f that takes 1 / f as
    many steps.
    """
    automaton = subject.config.automaton
    trained = automaton.fire_rate
    other = FIRE_RATE if trained == 1 else 1.0
    counts = []
    for what, rate in (("as trained", trained), ("other mode", other)):
        at = [equal_steps(times * automaton.steps, trained, rate) for times in MODE_TIMES]
        scene = scene_of(subject.task, subject.streams(Draw.ASYNCHRONOUS), at)
        scene = replace(scene, fire_rate=rate)
        counts += subject.count(what, scene, subject.starts or MODE_STARTS)
    note = (
        "Both modes give a cell as many updates in the mean: "
        f"{' and '.join(f'1 per {1 / rate:.3g} steps' for rate in (trained, other))}."
    )
    return {"counts": counts, "notes": [note]}


def equal_steps(steps: int, trained: float, rate: float) -> int:
    """Return the steps at fire rate `rate` that update a cell as often as `steps` in training."""
    # Rounded first: 50 · 0.6 is 30, and not a little more.
    return max(1, math.ceil(round(steps * trained / rate, 6)))


def robustness(subject: Subject) -> dict[str, Any]:
    """Return the mean wrong cells of a long asynchronous run under random damage, as published.

    The mean is over all starts, and all steps after step SETTLED.
    """
    trained = subject.config.automaton.fire_rate
    task, streams = subject.task.on_grid(LONG_SIDE, LONG_SIDE), subject.streams(Draw.ROBUSTNESS)
    scene = replace(
        scene_of(task, streams, range(SETTLED + 1, LONG_STEPS + 1)),
        fire_rate=FIRE_RATE if trained == 1 else trained,
        damage=Damage(LONG_SQUARE, LONG_STEPS, anywhere=True),
    )
    starts = subject.starts or LONG_STARTS
    wrong = count_wrong(subject.model.netlist, subject.ops, scene, starts)
    means = wrong.mean(axis=0)
    return {
        "height": LONG_SIDE,
        "width": LONG_SIDE,
        "fire_rate": scene.fire_rate,
        "steps": LONG_STEPS,
        "first_step": SETTLED + 1,
        "starts": starts,
        "cells": scene.cells,
        "mean_wrong_cells": float(means.mean()),
        "best_start": float(means.min()),
        "worst_start": float(means.max()),
        "least_wrong_cells": int(wrong.min()),
        "most_wrong_cells": int(wrong.max()),
        "trained": "synchronously trained" if trained == 1 else "asynchronously trained",
        "published": dict(subject.task.published_robustness),
        "notes": [
            f"A {LONG_SQUARE}×{LONG_SQUARE} square anywhere is zeroed after each step, and counts "
            "like all other cells."
        ],
    }


CONDITIONS = (
    CircuitTest(
        "generalisation",
        "larger grids and longer times than in training",
        _require_larger,
        generalisation,
    ),
    CircuitTest(
        "fault", "wrong cells around a square that is always zeroed", require_any_grid, fault
    ),
    CircuitTest(
        "healing",
        "wrong cells after a square was zeroed for half the time",
        require_any_grid,
        healing,
    ),
    CircuitTest(
        "asynchronous",
        "the mode of updating that the circuit was not trained in",
        require_lasting_target,
        asynchronous,
    ),
    CircuitTest(
        "robustness",
        "mean error over a long asynchronous run under random damage",
        require_any_grid,
        robustness,
    ),
)
