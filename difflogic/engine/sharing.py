"""How work is to be shared, and how a team of workers takes it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from difflogic.engine.kernels.structures import Team

Strategy = Literal["sequential", "samples", "cells", "steps", "gates"]
"""How workers share samples: not at all; one worker each; by cells, waiting for each other after
each automaton step; by cells and steps, as a pipeline (kernels/pipeline.py); or by gates too, teams
of several workers in that pipeline (kernels/split.py)."""


@dataclass(frozen=True)
class Sharing:
    """How work is shared. None lets the plan choose.

    Nothing here changes a result, but for the tiling: `lanes` and `chunk` set the order in which
    gradients are summed, and so their last bits.
    """

    workers: int = 1
    strategy: Strategy = "steps"
    samples_first: bool = True
    """Whether as many samples as go around are one worker's each, and only the others shared."""
    parts: int | None = None
    """Workers that share a tile's gates, where the strategy is that."""
    lanes: int | None = None
    chunk: int | None = None


SEQUENTIAL = Sharing(strategy="sequential")
"""The same kernels on one worker, sample after sample."""


def parts_of(sharing: Sharing, tasks: int) -> int:
    """Return how many workers share the gates of each tile, where `tasks` are done side by side.

    As many as go around. Where there are tiles enough for all workers, and their gates are to be
    shared nevertheless, all share each tile.
    """
    workers = sharing.workers
    if sharing.strategy != "gates":
        return 1
    return min(workers, sharing.parts or (workers if workers <= tasks else workers // tasks))


def plan_team(sharing: Sharing, groups: int, chunks: int) -> Team:
    """Decide how workers share `groups` of samples of `chunks` each.

    With `samples_first`, as many groups as divide evenly go to one worker each, without any
    waiting; a group of one chunk has nothing to share.
    """
    if sharing.strategy == "sequential":
        return Team(workers=1, whole=groups)
    workers, whole = sharing.workers, 0
    if sharing.strategy == "samples" or workers == 1:
        whole = groups
    elif sharing.samples_first:
        whole = groups if chunks == 1 else groups - groups % workers
    return Team(workers, whole)
