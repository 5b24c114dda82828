"""Larger grids and longer rollouts than in training."""

from __future__ import annotations

from typing import Any

from difflogic.evaluation.scene import scene_of
from difflogic.evaluation.subject import CircuitTest, Draw, Subject
from difflogic.tasks import Task

STARTS = 16


def require(task: Task) -> None:
    """Refuse tasks without a larger grid."""
    task.larger()


def run(subject: Subject) -> dict[str, Any]:
    """Count wrong cells on the task's larger grid."""
    larger = subject.task.larger()
    scene = scene_of(larger.task, subject.streams(Draw.GENERALISATION), larger.steps)
    automaton = subject.task.automaton
    is_one = not larger.task.has_random_start and automaton.fire_rate == 1
    counts = subject.count(larger.what, scene, 1 if is_one else subject.starts or STARTS)
    return {"counts": counts, "notes": [] if larger.note is None else [larger.note]}


GENERALISATION = CircuitTest(
    "generalisation", "larger grids and longer times than in training", require, run
)
