"""The theorem of docs/certificates.md, attacked: schedules and damage that should break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.proof.convergence import by_sets, sets
from difflogic.proof.convergence.findings import Bits, Question
from difflogic.proof.convergence.planes import pack
from tests.difflogic.circuit.circuits import step
from tests.difflogic.proof.convergence.brute import lies_in, questions, step_all
from tests.difflogic.proof.convergence.trained import question, trained

pytestmark = pytest.mark.thorough

NAMES = ("checkerboard-seed-1", "checkerboard-async-seed-1")

Round = Callable[[Question, Bits, np.random.Generator], Bits]


def fire(asked: Question, state: Bits, mask: np.ndarray) -> Bits:
    """Let some cells fire at once, by the plain interpreter."""
    return step(asked.circuit, state, asked.boundary, mask)


def one_by_one(asked: Question, state: Bits, order: np.ndarray) -> Bits:
    """Let each cell fire once, alone."""
    for cell in order:
        mask = np.zeros(asked.height * asked.width, bool)
        mask[cell] = True
        state = fire(asked, state, mask.reshape(asked.height, asked.width))
    return state


def raster(asked: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return one_by_one(asked, state, np.arange(asked.height * asked.width))


def shuffled(asked: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return one_by_one(asked, state, rng.permutation(asked.height * asked.width))


def together(asked: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return fire(asked, state, np.ones((asked.height, asked.width), bool))


def unequal(asked: Question, state: Bits, rng: np.random.Generator) -> Bits:
    """Some cells fire again and again before the last has fired."""
    favoured = rng.random((asked.height, asked.width))
    waiting = np.ones((asked.height, asked.width), bool)
    while waiting.any():
        mask = rng.random(favoured.shape) < favoured**4 + 0.03
        state = fire(asked, state, mask)
        waiting &= ~mask
    return state


def adversary(asked: Question, state: Bits, rng: np.random.Generator) -> Bits:
    """Of the cells that have yet to fire, always the one that then is the worst to fire."""
    waiting = np.ones((asked.height, asked.width), bool)
    everywhere = np.ones((asked.height, asked.width), bool)
    shown = list(asked.shown)
    while waiting.any():
        after = fire(asked, state, everywhere)
        wrong_now = (state[shown] != asked.target).sum(axis=0)
        wrong_then = (after[shown] != asked.target).sum(axis=0)
        harm = np.where(waiting, wrong_then - wrong_now + 0.1 * rng.random(waiting.shape), -np.inf)
        mask = np.zeros(waiting.size, bool)
        mask[np.argmax(harm)] = True
        mask = mask.reshape(waiting.shape)
        state = fire(asked, state, mask)
        waiting &= ~mask
    return state


ROUNDS = (raster, shuffled, together, unequal, adversary)


def starts(asked: Question, play: Round, rng: np.random.Generator) -> Iterator[Bits]:
    shape = (asked.circuit.channels, asked.height, asked.width)
    yield rng.integers(0, 2, shape, dtype=np.uint8)
    if play in (together, unequal):  # which take few steps for a round
        yield np.zeros(shape, np.uint8)
        yield np.ones(shape, np.uint8)


def right(asked: Question, state: Bits) -> bool:
    return bool((state[list(asked.shown)] == asked.target).all())


@pytest.mark.parametrize("play", ROUNDS)
@pytest.mark.parametrize("name", NAMES)
def test_rounds_of_trained_circuits(name: str, play: Round) -> None:
    asked = question(trained(name))
    run = by_sets(asked).states
    rng = np.random.default_rng(5)
    for state in starts(asked, play, rng):
        for known in run[1:]:
            state = play(asked, state, rng)
            assert lies_in(pack(asked.board, state), known)
        assert right(asked, state)
        assert right(asked, play(asked, state, rng))


@given(questions(), st.data())
@settings(max_examples=40)
def test_rounds_of_random_circuits(asked: Question, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    play = data.draw(st.sampled_from(ROUNDS))
    state = rng.integers(0, 2, (2, asked.height, asked.width), dtype=np.uint8)
    run = list(sets.descend(asked.network, asked.board))
    for known in run[1:6]:
        state = play(asked, state, rng)
        assert lies_in(pack(asked.board, state), known)


@pytest.mark.parametrize("name", NAMES)
def test_every_damage_of_a_single_cell_heals(name: str) -> None:
    asked = question(trained(name))
    found = by_sets(asked)
    channels = asked.circuit.channels
    settled = np.zeros((1, channels, 8, 8), np.uint8)
    for _ in range(len(found.states)):
        settled = step_all(asked.circuit, settled, asked.boundary)
    flips = np.arange(1, 2**channels)[:, None] >> np.arange(channels) & 1
    states = np.repeat(settled, 64 * len(flips), axis=0)
    for cell in range(64):
        states[cell * len(flips) : (cell + 1) * len(flips), :, cell // 8, cell % 8] ^= flips.astype(
            np.uint8
        )
    assert found.from_step is not None
    for _ in range(found.from_step):
        states = step_all(asked.circuit, states, asked.boundary)
    assert (states[:, list(asked.shown)] == asked.target).all()


@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.sampled_from(ROUNDS))
@settings(max_examples=4)
def test_patches_that_hit_in_the_middle_of_a_round_heal(name: str, seed: int, play: Round) -> None:
    asked = question(trained(name))
    found = by_sets(asked)
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 2, (asked.circuit.channels, 8, 8), dtype=np.uint8)
    for _ in range(3):
        y, x = rng.integers(0, 8, 2)
        patch = state[:, y : y + rng.integers(1, 9), x : x + rng.integers(1, 9)]
        patch[:] = rng.integers(0, 2, patch.shape)
        state = unequal(asked, state, rng)
    y, x = rng.integers(0, 8, 2)
    state[:, y : y + 4, x : x + 4] ^= 1
    assert found.from_step is not None
    for _ in range(found.from_step):
        state = play(asked, state, rng)
    assert right(asked, state)


def test_an_unfair_schedule_breaks_it() -> None:
    """Without fairness there is no such theorem, and the tests above could fail."""
    asked = question(trained("checkerboard-seed-1"))
    idle = np.ones((8, 8), bool)
    idle[3, 3] = False
    state = np.zeros((asked.circuit.channels, 8, 8), np.uint8)
    state[:, 3, 3] = 1
    for _ in range(50):
        state = fire(asked, state, idle)
    assert not right(asked, state) or not right(asked, fire(asked, 1 - state, idle))
