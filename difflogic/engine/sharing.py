"""What can be asked of how work is shared, and how a team of workers takes it on."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.engine.compilation import Strategy
from difflogic.engine.kernels.structures import Team


@dataclass(frozen=True)
class Sharing:
    """How work is shared; [parallel] strategy names the ways that pay. None chooses by itself.

    Nothing here changes a result, but for the tiling: `lanes` and `chunk` set the order in which
    gradients are summed, and so their last bits.
    """

    workers: int = 1
    parallel_batch: bool = True
    """Whether as many samples as go around are one worker's each."""
    parallel_cells: bool = True
    """Whether the others are shared; where neither is asked for, one worker does it all."""
    strategy: Strategy = "cells"
    """How these are shared."""
    parts: int | None = None
    """Workers that share a tile's gates, where the strategy is that."""
    lanes: int | None = None
    chunk: int | None = None


SEQUENTIAL = Sharing(workers=1, parallel_batch=False, parallel_cells=False)
"""The same kernels on one worker, sample after sample."""


def parts_of(sharing: Sharing, tasks: int) -> int:
    """Return how many workers share the gates of each tile, where `tasks` are done side by side.

    As many as go around. Where there are tiles enough for all workers, and their gates are to be
    shared nevertheless, all share each tile.
    """
    workers = sharing.workers
    if sharing.strategy != "gates" or not sharing.parallel_cells:
        return 1
    return min(workers, sharing.parts or (workers if workers <= tasks else workers // tasks))


def plan_team(sharing: Sharing, groups: int, chunks: int) -> Team:
    """Decide how workers share `groups` of samples of `chunks` each: whole groups, then cells.

    As many groups as divide evenly go to one worker each, without any waiting; of the rest all
    workers share the cells, which costs a barrier per step. A group of one chunk has nothing to
    share. `parallel_batch` off: one group after the other; `parallel_cells` off: a group is never
    shared; both off: one worker does it all.
    """
    workers = sharing.workers
    if not sharing.parallel_batch and not sharing.parallel_cells:
        return Team(workers=1, whole=groups, abreast=1)
    if not sharing.parallel_cells:
        return Team(workers=workers, whole=groups, abreast=1)
    if not sharing.parallel_batch:
        return Team(workers=workers, whole=0, abreast=1)
    whole = groups if chunks == 1 else groups - groups % workers
    return Team(workers=workers, whole=whole, abreast=max(1, groups - whole))
