"""Attacks the theorem of docs/certificates.md with schedules and damage that should break it."""

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
from tests.difflogic.proof.convergence.trained import checkerboard_question, trained

pytestmark = pytest.mark.thorough

NAMES = ("checkerboard-seed-1", "checkerboard-async-seed-1")

Round = Callable[[Question, Bits, np.random.Generator], Bits]


def fire(question: Question, state: Bits, mask: np.ndarray) -> Bits:
    """Let the cells of a mask fire at once, with the plain interpreter."""
    return step(question.circuit, state, question.boundary, mask)


def one_by_one(question: Question, state: Bits, order: np.ndarray) -> Bits:
    """Let each cell fire once, alone."""
    for cell in order:
        mask = np.zeros(question.height * question.width, bool)
        mask[cell] = True
        state = fire(question, state, mask.reshape(question.height, question.width))
    return state


def raster(question: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return one_by_one(question, state, np.arange(question.height * question.width))


def shuffled(question: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return one_by_one(question, state, rng.permutation(question.height * question.width))


def together(question: Question, state: Bits, rng: np.random.Generator) -> Bits:
    return fire(question, state, np.ones((question.height, question.width), bool))


def unequal(question: Question, state: Bits, rng: np.random.Generator) -> Bits:
    """Some cells fire again and again before the last has fired."""
    favoured = rng.random((question.height, question.width))
    waiting = np.ones((question.height, question.width), bool)
    while waiting.any():
        mask = rng.random(favoured.shape) < favoured**4 + 0.03
        state = fire(question, state, mask)
        waiting &= ~mask
    return state


def adversary(question: Question, state: Bits, rng: np.random.Generator) -> Bits:
    """Always choose the most harmful of the cells that have not yet fired."""
    waiting = np.ones((question.height, question.width), bool)
    everywhere = np.ones((question.height, question.width), bool)
    shown = list(question.visible_places)
    while waiting.any():
        after = fire(question, state, everywhere)
        wrong_now = (state[shown] != question.target).sum(axis=0)
        wrong_then = (after[shown] != question.target).sum(axis=0)
        harm = np.where(waiting, wrong_then - wrong_now + 0.1 * rng.random(waiting.shape), -np.inf)
        mask = np.zeros(waiting.size, bool)
        mask[np.argmax(harm)] = True
        mask = mask.reshape(waiting.shape)
        state = fire(question, state, mask)
        waiting &= ~mask
    return state


ROUNDS = (raster, shuffled, together, unequal, adversary)


def starts(question: Question, play: Round, rng: np.random.Generator) -> Iterator[Bits]:
    shape = (question.circuit.channels, question.height, question.width)
    yield rng.integers(0, 2, shape, dtype=np.uint8)
    if play in (together, unequal):  # these need few steps per round
        yield np.zeros(shape, np.uint8)
        yield np.ones(shape, np.uint8)


def right(question: Question, state: Bits) -> bool:
    return bool((state[list(question.visible_places)] == question.target).all())


@pytest.mark.parametrize("play", ROUNDS)
@pytest.mark.parametrize("name", NAMES)
def test_rounds_of_trained_circuits(name: str, play: Round) -> None:
    question = checkerboard_question(trained(name))
    run = by_sets(question).states
    rng = np.random.default_rng(5)
    for state in starts(question, play, rng):
        for known in run[1:]:
            state = play(question, state, rng)
            assert lies_in(pack(question.board, state), known)
        assert right(question, state)
        assert right(question, play(question, state, rng))


@given(questions(), st.data())
@settings(max_examples=40)
def test_rounds_of_random_circuits(question: Question, data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    play = data.draw(st.sampled_from(ROUNDS))
    state = rng.integers(0, 2, (2, question.height, question.width), dtype=np.uint8)
    run = list(sets.descend(question.network, question.board))
    for known in run[1:6]:
        state = play(question, state, rng)
        assert lies_in(pack(question.board, state), known)


@pytest.mark.parametrize("name", NAMES)
def test_all_damage_of_single_cells_heals(name: str) -> None:
    question = checkerboard_question(trained(name))
    found = by_sets(question)
    channels = question.circuit.channels
    settled = np.zeros((1, channels, 8, 8), np.uint8)
    for _ in range(len(found.states)):
        settled = step_all(question.circuit, settled, question.boundary)
    flips = np.arange(1, 2**channels)[:, None] >> np.arange(channels) & 1
    states = np.repeat(settled, 64 * len(flips), axis=0)
    for cell in range(64):
        states[cell * len(flips) : (cell + 1) * len(flips), :, cell // 8, cell % 8] ^= flips.astype(
            np.uint8
        )
    assert found.from_step is not None
    for _ in range(found.from_step):
        states = step_all(question.circuit, states, question.boundary)
    assert (states[:, list(question.visible_places)] == question.target).all()


@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.sampled_from(ROUNDS))
@settings(max_examples=4)
def test_patches_within_a_round_heal(name: str, seed: int, play: Round) -> None:
    question = checkerboard_question(trained(name))
    found = by_sets(question)
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 2, (question.circuit.channels, 8, 8), dtype=np.uint8)
    for _ in range(3):
        y, x = rng.integers(0, 8, 2)
        patch = state[:, y : y + rng.integers(1, 9), x : x + rng.integers(1, 9)]
        patch[:] = rng.integers(0, 2, patch.shape)
        state = unequal(question, state, rng)
    y, x = rng.integers(0, 8, 2)
    state[:, y : y + 4, x : x + 4] ^= 1
    assert found.from_step is not None
    for _ in range(found.from_step):
        state = play(question, state, rng)
    assert right(question, state)


def test_an_unfair_schedule_breaks_it() -> None:
    """The theorem needs fairness, and the tests above can fail."""
    question = checkerboard_question(trained("checkerboard-seed-1"))
    idle = np.ones((8, 8), bool)
    idle[3, 3] = False
    state = np.zeros((question.circuit.channels, 8, 8), np.uint8)
    state[:, 3, 3] = 1
    for _ in range(50):
        state = fire(question, state, idle)
    assert not right(question, state) or not right(question, fire(question, 1 - state, idle))
