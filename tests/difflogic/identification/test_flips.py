"""Cells recorded wrongly: how few can be, compared with all rules from all starts of a line."""

import math
from dataclasses import replace

import numpy as np
import pytest

from difflogic.examples.film import from_array
from difflogic.identification import Space, identify
from difflogic.identification.flips import SURE_VOTES
from difflogic.identification.inquiry import Inquiry
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, OutOfTimeError
from difflogic.system.work import working
from tests.difflogic.identification.automata import film as film_of
from tests.difflogic.identification.test_small_films import films, rules_of_kind, stepped

RULES = rules_of_kind("line-1", "none")
FOUND = "11111 11111 11101 11011 10111"


def clear(film, boundary):
    """Next states by pattern that lead by enough votes; -1 for others."""
    votes = np.zeros((8, 2), int)
    wide = np.pad(film[:-1, 0], ((0, 0), (1, 1)), "wrap" if boundary == "periodic" else "constant")
    np.add.at(votes, (4 * wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:], film[1:, 0]), 1)
    return np.where(abs(votes[:, 1] - votes[:, 0]) >= SURE_VOTES, votes.argmax(axis=1), -1)


def compare(film, boundary):
    """Compare the flips found for a film (n, 1, width); return whether fewest was said."""
    known = clear(film, boundary)
    rules = RULES[((known == RULES) | (known < 0)).all(axis=1)]
    cells = films(1, 1, film.shape[2])[None, :, 0]
    cells, wrong = np.broadcast_to(cells, (len(rules), *cells.shape[1:])), 0
    for frame in film:
        wrong = wrong + (cells != frame).sum(axis=(-2, -1))
        cells = stepped(rules[:, None], cells, "line-1", boundary)
    inquiry = Inquiry(from_array(film), Space("line-1"), boundary, noise=True)
    found = identify(inquiry)
    right = film.copy()
    right[tuple(found.flipped[:, 1:].T)] ^= 1
    assert (stepped(found.complete, right[:-1], "line-1", boundary) == right[1:]).all()
    assert found.least <= wrong.min() <= len(found.flipped)
    fewest = len(found.flipped) == found.least
    assert fewest == ("needs fewer" in found.wrong_cells)
    return fewest


def drawn(seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 2, (1, int(rng.integers(3, 8))))
    boundary = ("periodic", "zero")[seed % 2]
    rule = rng.choice(RULES)
    film = film_of(lambda c: stepped(rule, c, "line-1", boundary), start, int(rng.integers(3, 8)))
    return film ^ (rng.random(film.shape) < rng.choice([0.02, 0.1, 0.3])), boundary


def test_fewer_flips_of_other_cells_are_found():
    film = np.array([list(map(int, row)) for row in FOUND.split()])[:, None]
    assert compare(film, "periodic")
    parts = []
    stop = Deadline(math.inf, lambda: parts.count("cells encoded:") > 1)
    inquiry = Inquiry(from_array(film), Space("line-1"), noise=True, deadline=stop)
    with working(tell=lambda news: parts.append(news.what)):
        found = identify(inquiry)
    assert len(found.flipped) > found.least


def test_a_film_that_no_few_flips_mend_is_refused():
    film = from_array(np.repeat([0, 1], 16).reshape(-1, 1, 1) * np.ones((1, 3), int))
    inquiry = Inquiry(film, Space("line-1"), noise=True)
    with pytest.raises(ConfigError, match="flipping cells near the contradictions does not"):
        identify(inquiry)
    with pytest.raises(ConfigError, match="a known boundary"):
        identify(replace(inquiry, boundary="unknown"))
    with pytest.raises(OutOfTimeError):
        identify(replace(inquiry, deadline=Deadline.after(0)))


@pytest.mark.thorough
def test_few_flips():
    assert sum(compare(*drawn(seed)) for seed in range(40)) > 30
