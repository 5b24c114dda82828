"""How workers share groups of samples."""

import pytest

from difflogic.engine.soft.sharing import Sharing, plan_team


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
