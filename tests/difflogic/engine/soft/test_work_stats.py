"""Counts of work add up."""

import numpy as np

from difflogic.engine.kernels.teams import CURSOR_FIELDS, STEALS, TASKS, WAITED, WAITS
from difflogic.engine.soft.work_stats import WorkStats


def test_counts_are_read_added_and_subtracted():
    cursor = np.zeros(CURSOR_FIELDS, np.int64)
    cursor[[TASKS, STEALS, WAITS, WAITED]] = 5, 2, 3, 1_500_000_000
    stats = WorkStats.of(cursor)
    assert stats == WorkStats(tasks=5, steals=2, waits=3, seconds_waited=1.5)
    assert stats + stats == WorkStats(10, 4, 6, 3.0)
    assert stats + stats - stats == stats
    found = (stats + WorkStats(created=5)).per_step(2)
    assert found == {"created": 2.5, "own": 1.5, "stolen": 1.0}
