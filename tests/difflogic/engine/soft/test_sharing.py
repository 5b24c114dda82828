"""How workers share groups of samples, and bounds on the speed-up."""

import pytest

from difflogic.engine.kernels.structures import Team
from difflogic.engine.soft.sharing import Sharing, ceiling, plan_team


@pytest.mark.parametrize(
    ("workers", "groups", "chunks", "strategy", "team"),
    [
        (4, 6, 4, "sequential", (1, 6)),
        (4, 6, 4, "samples", (4, 6)),  # every group on one worker
        (4, 6, 4, "cells", (4, 0)),  # each group on all workers
        (4, 6, 4, "auto", (4, 4)),  # four whole groups, and the cells of the other two
        (8, 3, 4, "auto", (8, 0)),
        (2, 3, 1, "auto", (2, 3)),  # a group of one chunk cannot be shared
        (2, 3, 1, "steps", (2, 0)),
    ],
)
def test_plan_team(workers, groups, chunks, strategy, team):
    assert tuple(plan_team(Sharing(workers, strategy), groups, chunks)) == team


@pytest.mark.parametrize(
    ("team", "groups", "chunks", "speedup"),
    [
        (Team(1, 3), 3, [64], 1),
        (Team(3, 0), 2, [64] * 4, 3),  # no worker waits for a step
        (Team(2, 0), 1, [32] * 12 + [16], 2),
        (Team(64, 0), 1, [32] * 12 + [16], 12.5),
        (Team(2, 3), 3, [64], 1.5),  # one worker takes two groups
    ],
)
def test_the_ceiling(team, groups, chunks, speedup):
    assert ceiling(team, groups, 5, chunks) == pytest.approx(speedup)
