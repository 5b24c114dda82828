"""Bounds on the speed-up by number and size of tasks."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.engine.kernels.structures import Team
from difflogic.engine.schedule import ceiling, makespan


@pytest.mark.thorough
@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(1, 4))
def test_the_largest_first_is_near_the_best_of_all_schedules(tasks, workers):
    best = min(
        max(sum(t for t, w in zip(tasks, who, strict=True) if w == one) for one in range(workers))
        for who in product(range(workers), repeat=len(tasks))
    )
    assert best <= makespan(tasks, workers) <= 4 / 3 * best + 1e-9  # Graham 1969


@pytest.mark.parametrize(
    ("team", "groups", "chunks", "speedup"),
    [
        (Team(1, 3), 3, [64], 1),
        (Team(3, 0), 2, [64] * 4, 3),  # nobody waits for a step
        (Team(2, 0), 1, [32] * 12 + [16], 2),
        (Team(64, 0), 1, [32] * 12 + [16], 12.5),
        (Team(2, 3), 3, [64], 1.5),
    ],
)
def test_the_ceiling(team, groups, chunks, speedup):
    assert ceiling(team, groups, 5, chunks) == pytest.approx(speedup)
