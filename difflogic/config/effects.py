"""Warnings about samples that contradict each other, and settings without effect for a task.

They are not errors, so that the task of a shipped recipe can be changed without its levers.
"""

from __future__ import annotations

from difflogic.config.models import Config
from difflogic.tasks import CustomSection, custom, draw_batch, make_task
from difflogic.tasks.checked import UNSAMPLED_CELLS
from difflogic.tasks.code import contradiction

COMPARED_SAMPLES = 64
"""Samples of a class of one's own that are compared with each other."""


def without_effect(config: Config) -> list[str]:
    """Return a warning for contradictory samples, and each setting without effect: what to do."""
    finishing = config.finishing
    task = make_task(config) if custom.is_loaded(config.task) else None
    found = []
    if task is not None and isinstance(config.task, CustomSection):
        clash = contradiction(*draw_batch(task, 0, 0, COMPARED_SAMPLES))
        if clash is not None:
            found.append(
                f"samples {clash[0]} and {clash[1]} of the task have equal starts and different "
                "targets: no circuit is right on both: correct the data, unless chance is meant"
            )
    if finishing.rectify:
        why = why_not_rectify(config)
        if why is not None:
            found.append(
                "[finishing] rectify does nothing: it needs one start, or all cases, and neither "
                f"chance nor damage, but here {why}: set it to 0"
            )
        elif not (finishing.every and finishing.candidates):
            found.append(
                "[finishing] rectify does nothing: there is no search, since every or candidates "
                "is 0: set it to 0"
            )
    if config.parallel.device == "gpu" and config.parallel.workers != "auto":
        found.append("[parallel] workers does nothing on a GPU: leave it out")
    if task is not None and task.holds and config.automaton.boundary == "periodic":
        found.append(
            "[task] hold: no picture was ever held on a torus, where cells cannot find their "
            'place: set [automaton] boundary = "zero" and [task] start = "zeros", as in the '
            "experiments that end in -hold, or use dct train-pattern --hold"
        )
    return found


def why_not_rectify(config: Config) -> str | None:
    """Return why no search can rectify; None if one can, or if that is unknown.

    It is unknown if a task's code is not loaded, or its grid is `UNSAMPLED_CELLS`.
    """
    if config.automaton.fire_rate < 1:
        return "cells fire by chance"
    if (
        not custom.is_loaded(config.task)
        or config.task.height * config.task.width > UNSAMPLED_CELLS
    ):
        return None
    task = make_task(config).stages[0]
    return "starts are random" if task.find_cases() is None and task.has_random_start else None
