"""How workers share the work, and how much faster that can make it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from difflogic.engine.kernels.structures import Team
from difflogic.system.strategy import Strategy


@dataclass(frozen=True)
class Sharing:
    """How work is shared, which changes no bit of a result. None lets the plan choose."""

    workers: int = 1
    strategy: Strategy = "steps"
    samples_first: bool = True
    """Whether as many samples as divide evenly get one worker each, and only the rest is shared."""
    parts: int | None = None
    """Workers that share a tile's gates, for the strategy "gates"."""
    tasks_per_worker: int | None = None
    """Least number of tasks of each worker that chunks are joined to; None: do not join any."""


SEQUENTIAL = Sharing(strategy="sequential")
"""The same kernels on one worker, sample after sample."""


def parts_of(sharing: Sharing, tasks: int) -> int:
    """Return how many workers share the gates of each tile, if `tasks` can run side by side.

    The workers are divided among the tasks. If there are tasks enough for all workers, all workers
    share each tile.
    """
    workers = sharing.workers
    if sharing.strategy != "gates":
        return 1
    return min(workers, sharing.parts or (workers if workers <= tasks else workers // tasks))


def plan_team(sharing: Sharing, groups: int, chunks: int) -> Team:
    """Decide how workers share `groups` of samples with `chunks` each.

    With `samples_first`, as many groups as divide evenly go to one worker each, without waiting.
    A group of one chunk cannot be shared.
    """
    if sharing.strategy == "sequential":
        return Team(workers=1, groups_alone=groups)
    workers = sharing.workers
    whole = 0
    if sharing.strategy == "samples" or workers == 1:
        whole = groups
    elif sharing.samples_first:
        whole = groups if chunks == 1 else groups - groups % workers
    return Team(workers, whole)


def makespan(tasks: Iterable[float], workers: int) -> float:
    """Return when the last worker is done, if each takes the largest remaining task in turn."""
    done = [0.0] * workers
    for task in sorted(tasks, reverse=True):
        heapq.heapreplace(done, done[0] + task)
    return max(done)


def ceiling(team: Team, groups: int, steps: int, chunks: list[int]) -> float:
    """Return an upper bound of the speed-up, from the number and sizes of the tasks alone.

    A whole group is one task of all `steps`. In the other groups each of the `chunks`, given by
    their lanes, is a task in each step; the tasks of one chunk follow each other.
    """
    per_step = sum(chunks)
    shared = groups - team.groups_alone
    work = groups * steps * per_step
    alone = (
        makespan([steps * per_step] * team.groups_alone, team.workers) if team.groups_alone else 0.0
    )
    return work / max(work / team.workers, alone, steps * max(chunks) if shared else 0.0)
