"""Which chunk a worker of a pipeline takes, and when it may."""

import numpy as np
import pytest

from difflogic.engine.kernels.pipeline import APART, BEGUN, DONE, take_ready
from difflogic.engine.layout import Grid, make_layout
from difflogic.system.arrays import aligned

STEPS = 3
LAYOUT = make_layout(Grid(8, 16, "zero"), 16, 1)
"""Eight chunks, rows of cells; each sees the one before and the one after."""
CHUNKS = len(LAYOUT.chunk_start) - 1


class Control:
    """Where the chunks of some groups stand."""

    def __init__(self, groups=1):
        self.places = aligned((APART * CHUNKS * groups,), np.int64)
        self.pieces = CHUNKS * groups

    def take(self, first=0, end=None):
        end = self.pieces if end is None else end
        return take_ready(self.places, 0, LAYOUT, first, end, STEPS)

    def done(self, *pieces):
        for piece in pieces:
            self.places[APART * piece + DONE] += 1

    def begun(self):
        return self.places[BEGUN::APART].tolist()


def test_a_chunk_waits_for_those_around_it_and_for_no_other():
    control = Control()
    assert [control.take() for _ in range(CHUNKS)] == list(range(CHUNKS))
    assert control.take() == -1
    control.done(0, 1)
    # Chunk 1 sees chunk 2, which is not done with its first step.
    assert control.take() == 0
    assert control.take() == -1
    control.done(2)
    assert control.take() == 1
    control.done(0, 1)
    # Chunk 0 sees itself and chunk 1 only, two steps on; chunk 1 sees chunk 2, one step on.
    assert control.take() == 0
    assert control.take() == -1
    assert control.begun()[:3] == [3, 2, 1]


def test_the_least_advanced_comes_first_and_the_end_is_told():
    control = Control(groups=2)
    # The second group is behind: nothing of the first one is taken before it.
    for piece in range(CHUNKS):
        control.places[APART * piece + BEGUN] = control.places[APART * piece + DONE] = 1
    assert control.take() == CHUNKS
    assert control.take(0, CHUNKS) == 0
    control.places[BEGUN::APART] = STEPS
    assert control.take() == -2


@pytest.mark.parametrize("groups", [1, 2])
def test_each_step_of_each_chunk_is_taken_once_in_whatever_order_they_end(groups):
    control, rng = Control(groups), np.random.default_rng(groups)
    at_work, taken = [], []
    while True:
        found = control.take()
        if found >= 0:
            at_work.append(found)
            taken.append(found)
        if found == -2 and not at_work:
            break
        if at_work and (found < 0 or rng.random() < 0.5):
            control.done(at_work.pop(rng.integers(len(at_work))))
    assert sorted(taken) == sorted(STEPS * list(range(control.pieces)))
