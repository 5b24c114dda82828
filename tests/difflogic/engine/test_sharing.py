"""How workers share groups of samples."""

import pytest

from difflogic.engine.sharing import Sharing, plan_team


@pytest.mark.parametrize(
    ("workers", "groups", "chunks", "strategy", "samples_first", "team"),
    [
        (4, 6, 4, "sequential", False, (1, 6)),
        (4, 6, 4, "samples", False, (4, 6)),  # every group on one worker
        (4, 6, 4, "cells", False, (4, 0)),  # each group on all workers
        (4, 6, 4, "steps", True, (4, 4)),  # four whole, and the cells of the last two
        (2, 2, 4, "steps", True, (2, 2)),  # divides evenly
        (8, 3, 4, "steps", True, (8, 0)),
        (1, 3, 4, "cells", False, (1, 3)),
        (2, 3, 1, "steps", True, (2, 3)),  # nothing to share in a group of one chunk
        (2, 3, 1, "steps", False, (2, 0)),
    ],
)
def test_plan_team(workers, groups, chunks, strategy, samples_first, team):
    assert tuple(plan_team(Sharing(workers, strategy, samples_first), groups, chunks)) == team
