"""How workers share the work."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.engine.kernels.structures import Team
from difflogic.system.strategy import Strategy


@dataclass(frozen=True)
class Sharing:
    """How work is shared, which changes no bit of a result."""

    workers: int = 1
    strategy: Strategy = "auto"


SEQUENTIAL = Sharing(strategy="sequential")
"""The same kernels on one worker, sample after sample."""


def plan_team(sharing: Sharing, groups: int, chunks: int) -> Team:
    """Decide how workers share `groups` of samples with `chunks` each.

    A group of one chunk cannot be shared.
    """
    workers = 1 if sharing.strategy == "sequential" else sharing.workers
    whole = 0
    if sharing.strategy == "samples" or workers == 1:
        whole = groups
    elif sharing.strategy == "auto":
        whole = groups if chunks == 1 else groups - groups % workers
    return Team(workers, whole)
