"""Settings that some tasks have no use for, which a user should hear of.

They are not refused: who changes the task of a shipped recipe keeps its levers.
"""

from __future__ import annotations

from difflogic.config.models import Config
from difflogic.tasks import make_task, own

LARGE = 2**18
"""Cells of a grid that is not drawn to find out whether anything in it is random."""


def without_effect(config: Config) -> list[str]:
    """Return what of a configuration has no effect, each with why and what to do."""
    finishing, found = config.finishing, []
    why = why_not_rectify(config) if finishing.rectify else None
    if why is not None:
        found.append(
            "[finishing] rectify does nothing: it needs one start, or all cases, and neither "
            f"chance nor damage, and here {why}: set it to 0"
        )
    elif finishing.rectify and not (finishing.every and finishing.candidates):
        found.append(
            "[finishing] rectify does nothing: nothing is searched, as every or candidates is 0: "
            "set it to 0"
        )
    why = why_not_damage(config) if config.pool.damage_tries > 1 else None
    if why is not None:
        found.append(f"[pool] damage_tries does nothing, as {why}: set it to 1")
    if own.is_loaded(config.task) and make_task(config).holds and is_torus(config):
        found.append(
            "[task] hold: no picture was ever held on a torus, where no cell can read its place: "
            'set [automaton] boundary = "zero" and [task] start = "zeros", as the experiments do '
            "that end in -hold, or use dct train-pattern --hold"
        )
    return found


def is_torus(config: Config) -> bool:
    """Return whether the grid has no edge."""
    return config.automaton.boundary == "periodic"


def why_not_damage(config: Config) -> str | None:
    """Return why no sample of a run is damaged; None if some are, or if that is not known."""
    if not config.pool.batch:
        return "there is no pool: [pool] batch is 0"
    if not own.is_loaded(config.task) or make_task(config).patches:
        return None
    return "nothing is to grow back"


def why_not_rectify(config: Config) -> str | None:
    """Return why no search of a run can rectify; None if one can, or if that is not known.

    It is not where a task's code is not loaded, or its grid is LARGE.
    """
    if config.automaton.fire_rate < 1:
        return "cells fire by chance"
    if not own.is_loaded(config.task) or config.task.height * config.task.width > LARGE:
        return None
    task = make_task(config)
    if task.find_cases() is not None:
        return None
    if task.has_random_start:
        return "starts are random"
    return None
