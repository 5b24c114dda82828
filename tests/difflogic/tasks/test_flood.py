"""Mazes, compared with SciPy's dilation, and with a search cell by cell."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy.ndimage import binary_dilation

from difflogic.config import load_config
from difflogic.tasks import make_task


def test_near_cells_are_lit_and_far_ones_do_not_count():
    task = make_task(load_config("flood"))
    far = 0
    for seed in range(40):
        start, target = task.draw(np.random.default_rng(seed))
        lit = binary_dilation(start[1], iterations=task.automaton.steps, mask=start[0])
        later = binary_dilation(lit, iterations=-1, mask=start[0]) & ~lit
        assert_array_equal(target[0], np.where(later, np.nan, lit))
        far += int(np.isnan(target).sum())
    assert far


def core(marks, free):
    """Free cells without dead ends, and when each of the others goes out; one cell at a time."""
    gone = {}
    left = {tuple(cell) for cell in np.argwhere(free)}
    step = 0
    while True:
        step += 1
        ends = [
            (y, x)
            for y, x in left
            if not marks[y, x] and len(left & {(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)}) < 2
        ]
        if not ends:
            return left, gone
        left = left - set(ends)
        gone |= dict.fromkeys(ends, step)


def test_dead_ends_go_out_and_slow_ones_do_not_count():
    task = make_task(load_config("dead-ends"))
    slow = 0
    for seed in range(40):
        start, target = task.draw(np.random.default_rng(seed))
        assert 1 <= start[0].sum() <= 2
        left, gone = core(start[0], start[1])
        expected = np.zeros_like(target[0])
        for cell in left:
            expected[cell] = 1
        for cell, step in gone.items():
            expected[cell] = np.nan if step > task.automaton.steps else 0
        assert_array_equal(target[0], expected)
        slow += int(np.isnan(target).sum())
    assert slow
