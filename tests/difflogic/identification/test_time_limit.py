"""`identify` keeps its time limit, and stops when it is told to, on recordings that take long."""

import time

import numpy as np
import pytest

import difflogic
from difflogic.system.errors import OutOfTimeError
from tests.difflogic.identification.automata import brains_brain, film, life, soup

LIMIT = 0.2
MORE = 1.0


def drawn(states, *shape):
    return np.random.default_rng(0).integers(0, states, shape)


def noisy(films, size, share):
    frames = np.stack([film(life, soup(np.random.default_rng(n), (size, size)), 9) for n in films])
    return frames ^ (np.random.default_rng(0).random(frames.shape) < share)


def sums(cells):
    """A rule of four states whose circuit has many gates."""
    near = np.roll(cells, 1, 0) * np.roll(cells, 1, -1) + cells * np.roll(cells, -1, -1)
    return (near + (cells > np.roll(cells, -1, 0))) % 4


COUNTED = {"symmetry": "outer-totalistic"}
CASES = {
    "six noisy films": lambda: (noisy(range(6), 24, 0.05), {"noise": True}),
    "much noise": lambda: (noisy(range(10), 64, 0.3), {"noise": True, **COUNTED}),
    "no rule": lambda: (drawn(2, 9, 64, 64), {"hidden": 4}),
    "many states": lambda: (film(brains_brain, drawn(3, 64, 64), 17) == 1, {"hidden": 3}),
    "steps apart": lambda: (film(life, drawn(2, 64, 64), 8, 4), {"gap": 4}),
    "many kinds": lambda: (
        film(sums, drawn(4, 150, 150), 9),
        {"neighbourhood": "von-neumann", "symmetry": "auto"},
    ),
    "many gates": lambda: (film(sums, drawn(4, 200, 200), 4), {}),
}


@pytest.mark.once
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stopped", [False, True])
def test_an_answer_in_time(case, stopped):
    frames, options = CASES[case]()
    began = time.process_time()
    wall = time.monotonic()

    def should_stop():
        return stopped and time.monotonic() > wall + LIMIT

    limit = None if stopped else LIMIT
    try:
        assumed = difflogic.Assumptions(**options)
        found = difflogic.identify(frames, assumed, time_limit=limit, should_stop=should_stop)
    except OutOfTimeError:
        pass
    else:
        assert not (found.rule.undecided.any() and found.rule.unique)
    assert time.process_time() - began < LIMIT + MORE
