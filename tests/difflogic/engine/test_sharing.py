"""How workers share groups of samples."""

import pytest

from difflogic.engine.sharing import Sharing, plan_team


@pytest.mark.parametrize(
    ("workers", "groups", "chunks", "batch", "cells", "team"),
    [
        (4, 6, 4, False, False, (1, 6, 1)),  # sequential
        (4, 6, 4, True, False, (4, 6, 1)),  # every group on one worker
        (4, 6, 4, False, True, (4, 0, 1)),  # group after group, each on all workers
        (4, 6, 4, True, True, (4, 4, 2)),  # four whole, and the cells of the last two
        (2, 2, 4, True, True, (2, 2, 1)),  # divides evenly: no barrier
        (2, 1, 4, True, True, (2, 0, 1)),
        (8, 3, 4, True, True, (8, 0, 3)),
        (1, 3, 4, True, True, (1, 3, 1)),
        (2, 3, 1, True, True, (2, 3, 1)),  # nothing to share in a group of one chunk
        (8, 3, 1, True, True, (8, 3, 1)),
        (2, 3, 1, False, True, (2, 0, 1)),
    ],
)
def test_plan_team(workers, groups, chunks, batch, cells, team):
    assert tuple(plan_team(Sharing(workers, batch, cells), groups, chunks)) == team
