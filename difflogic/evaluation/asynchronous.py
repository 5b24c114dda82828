"""The circuit with the other mode of updating: asynchronous if trained synchronously, and back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from difflogic.evaluation.scene import scene_of
from difflogic.evaluation.subject import CircuitTest, Draw, Subject, require_lasting_target

FIRE_RATE = 0.6
"""Of asynchronous inference, as published."""
TIMES = (1, 2, 4)
STARTS = 64


def run(subject: Subject) -> dict[str, Any]:
    """Count wrong cells in both modes, after as many updates per cell in the mean.

    An update of T · fire rate steps is what the circuit was trained with; a mode at fire rate f
    takes 1 / f steps for one.
    """
    config = subject.config
    trained = config.automaton.fire_rate
    other = FIRE_RATE if trained == 1 else 1.0
    starts = subject.starts or STARTS
    counts = []
    for what, rate in (("as trained", trained), ("other mode", other)):
        at = [_steps(times * config.automaton.steps, trained, rate) for times in TIMES]
        scene = scene_of(subject.task, subject.streams(Draw.ASYNCHRONOUS), at)
        counts += subject.count(what, replace(scene, fire_rate=rate), starts)
    note = (
        "Both modes give a cell as many updates in the mean: "
        f"{' and '.join(f'1 per {1 / rate:.3g} steps' for rate in (trained, other))}."
    )
    return {"counts": counts, "notes": [note]}


def _steps(steps: int, trained: float, rate: float) -> int:
    """Return the steps at fire rate `rate` that update a cell as often as so many in training."""
    # Rounded first: 50 · 0.6 is 30, and not a little more.
    return max(1, math.ceil(round(steps * trained / rate, 6)))


ASYNCHRONOUS = CircuitTest(
    "asynchronous",
    "the mode of updating that the circuit was not trained in",
    require_lasting_target,
    run,
)
