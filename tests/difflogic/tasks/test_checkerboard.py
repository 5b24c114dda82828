import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.tasks import make_task
from difflogic.tasks.checkerboard import Checkerboard
from tests.difflogic.tasks import made
from tests.difflogic.tasks.made import automaton


def board(channels, height, width, square=2, loss_channels=(0,)):
    return made.task(
        Checkerboard,
        automaton(channels),
        kind="checkerboard",
        height=height,
        width=width,
        square=square,
        loss_channels=loss_channels,
    )


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4))
def test_target(height, width, square):
    task = board(3, height, width, square, (0, 2))
    _, target = task.sample(np.random.default_rng(0))
    assert target.shape == (2, height, width)
    for y in range(height):
        for x in range(width):
            assert (target[:, y, x] == (x // square + y // square) % 2).all()


def test_starts_are_fair_bits():
    task = board(8, 16, 16)
    starts = np.stack([task.sample(np.random.default_rng(seed))[0] for seed in range(50)])
    assert starts.dtype == np.uint8
    assert set(np.unique(starts)) == {0, 1}
    means = starts.mean(axis=(0, 2, 3))
    assert np.abs(means - 0.5).max() < 4 * 0.5 / np.sqrt(50 * 256)


def test_exactness_needs_later_steps():
    task = make_task(load_config("checkerboard"))
    assert task.decisive_steps == (20, 21, 40, 41)
    larger = task.larger()
    assert (larger.task.height, larger.task.width, larger.steps) == (64, 64, (80, 81))
    np.testing.assert_array_equal(larger.task.target[0, :16, :16], task.target[0])
