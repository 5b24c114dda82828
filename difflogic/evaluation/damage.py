"""How an automaton copes with a square of cells that is zeroed repeatedly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from difflogic.evaluation.scene import Damage, scene_of
from difflogic.evaluation.subject import CircuitTest, Draw, Subject, require_any_grid

SIDE, DAMAGED = 64, 20
"""As published: the middle 20×20 of 64×64 cells."""
TIMES = 4
"""Steps, as a multiple of the training steps: 80 for the synchronous checkerboard, as published."""
STARTS = 16


def fault(subject: Subject) -> dict[str, Any]:
    """Zero the middle after every step, and count wrong cells outside it."""
    return _damaged(subject, "outside the damage", healing=False)


def healing(subject: Subject) -> dict[str, Any]:
    """Zero the middle during the first half of the steps, and count wrong cells everywhere."""
    return _damaged(subject, "everywhere", healing=True)


def _damaged(subject: Subject, what: str, healing: bool) -> dict[str, Any]:
    steps = TIMES * subject.config.automaton.steps
    until = steps // 2 if healing else steps
    damage = Damage(DAMAGED, until)
    scene = scene_of(subject.task.on_grid(SIDE, SIDE), subject.streams(Draw.DAMAGE), (steps,))
    ignored = None if healing else damage.middle(scene.grid)
    scene = replace(scene, damage=damage, ignored=ignored)
    counts = subject.count(what, scene, subject.starts or STARTS)
    square = f"The middle {DAMAGED}×{DAMAGED} cells are zeroed after each of steps 1 to {until}."
    return {"counts": counts, "damaged_steps": until, "notes": [square]}


FAULT = CircuitTest(
    "fault", "wrong cells around a square that is always zeroed", require_any_grid, fault
)
HEALING = CircuitTest(
    "healing", "wrong cells after a square was zeroed for half the time", require_any_grid, healing
)
