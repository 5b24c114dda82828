"""How workers share groups of samples, and bounds on the speed-up."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.engine.kernels.structures import Team
from difflogic.engine.soft.sharing import Sharing, ceiling, makespan, plan_team


@pytest.mark.parametrize(
    ("workers", "groups", "chunks", "strategy", "samples_first", "team"),
    [
        (4, 6, 4, "sequential", False, (1, 6)),
        (4, 6, 4, "samples", False, (4, 6)),  # every group on one worker
        (4, 6, 4, "cells", False, (4, 0)),  # each group on all workers
        (4, 6, 4, "steps", True, (4, 4)),  # four whole groups, and the cells of the other two
        (8, 3, 4, "steps", True, (8, 0)),
        (2, 3, 1, "steps", True, (2, 3)),  # a group of one chunk cannot be shared
        (2, 3, 1, "steps", False, (2, 0)),
    ],
)
def test_plan_team(workers, groups, chunks, strategy, samples_first, team):
    assert tuple(plan_team(Sharing(workers, strategy, samples_first), groups, chunks)) == team


@pytest.mark.once
@pytest.mark.thorough
@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(1, 4))
def test_taking_the_largest_task_first_is_near_the_best_schedule(tasks, workers):
    best = min(
        max(sum(t for t, w in zip(tasks, who, strict=True) if w == one) for one in range(workers))
        for who in product(range(workers), repeat=len(tasks))
    )
    assert best <= makespan(tasks, workers) <= 4 / 3 * best + 1e-9  # Graham 1969


@pytest.mark.parametrize(
    ("team", "groups", "chunks", "speedup"),
    [
        (Team(1, 3), 3, [64], 1),
        (Team(3, 0), 2, [64] * 4, 3),  # no worker waits for a step
        (Team(2, 0), 1, [32] * 12 + [16], 2),
        (Team(64, 0), 1, [32] * 12 + [16], 12.5),
        (Team(2, 3), 3, [64], 1.5),
    ],
)
def test_the_ceiling(team, groups, chunks, speedup):
    assert ceiling(team, groups, 5, chunks) == pytest.approx(speedup)
