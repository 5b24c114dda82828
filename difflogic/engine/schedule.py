"""How soon workers can be done with tasks of given sizes, if nothing else takes any time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from difflogic.engine.kernels.structures import Team


def makespan(tasks: Iterable[float], workers: int) -> float:
    """Return when the last of `workers` is done, who take the largest task left in turn."""
    done = [0.0] * workers
    for task in sorted(tasks, reverse=True):
        heapq.heapreplace(done, done[0] + task)
    return max(done)


def ceiling(team: Team, groups: int, steps: int, chunks: list[int]) -> float:
    """Return the speed-up that the number and size of tasks allow, if all else is free: a bound.

    Whole groups are tasks of all `steps`. Of the others the `chunks`, given by their lanes, are
    tasks in each step; those of a chunk follow each other.
    """
    per_step, shared = sum(chunks), groups - team.whole
    work = groups * steps * per_step
    alone = makespan([steps * per_step] * team.whole, team.workers) if team.whole else 0.0
    return work / max(work / team.workers, alone, steps * max(chunks) if shared else 0.0)
