"""Fixed points, compared with all states of small tori; periods, with all shifts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.inspection.fixed_points import Period, canonical, find, repeats
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import circuits, from_function, life_like
from tests.difflogic.proof.convergence.brute import all_states, step_all


def all_pictures(example: Automaton, bound: int) -> set[bytes]:
    """Return what the visible channels of all fixed points show, up to shifts."""
    circuit, found = example.circuit, set()
    for height, width in itertools.product(range(1, bound + 1), repeat=2):
        states = all_states(circuit.channels, height, width)
        still = (step_all(circuit, states, "periodic") == states).all(axis=(1, 2, 3))
        found |= {smallest(state[list(example.visible_rows)]) for state in states[still]}
    return found


def smallest(shown: np.ndarray) -> bytes:
    """Return a key of a picture on the plane, the same for all shifts."""
    _, height, width = shown.shape
    side = 12  # a multiple of all sizes here
    plane = np.tile(shown, (1, side // height, side // width)).astype(np.uint8)
    return min(
        np.roll(plane, (dy, dx), axis=(1, 2)).tobytes()
        for dy in range(height)
        for dx in range(width)
    )


@given(circuits(channels=1, gates=12))
@settings(max_examples=12)
def test_all_states_of_one_channel(circuit: Circuit) -> None:
    example = automaton(circuit)
    found = find(example, 3, 20, most=1000)
    assert found.stopped is None
    names = [smallest(picture.bits) for picture in found.pictures]
    assert len(set(names)) == len(names)
    assert set(names) == all_pictures(example, 3)


@given(circuits(channels=3, gates=24))
@settings(max_examples=12)
def test_hidden_channels(circuit: Circuit) -> None:
    example = automaton(circuit, visible=circuit.labels[:1])
    found = find(example, 2, 20, most=1000)
    assert {smallest(picture.bits) for picture in found.pictures} == all_pictures(example, 2)


def test_still_lifes() -> None:
    example = automaton(life_like("3", "23"))
    found = find(example, 4, 30)
    assert {smallest(picture.bits) for picture in found.pictures} == all_pictures(example, 4)
    block = canonical(np.array([[[1, 1, 0], [1, 1, 0], [0, 0, 0]]], np.uint8))
    assert smallest(block.bits) in {smallest(picture.bits) for picture in found.pictures}


def test_limits() -> None:
    none = find(automaton(from_function(lambda board: 1 - int(board[1, 1]))), 3, 20)
    assert (none.pictures, none.stopped) == ((), None)
    many = find(automaton(from_function(lambda board: int(board[1, 1]))), 4, 20, most=7)
    assert (len(many.pictures), many.stopped) == (7, "more than 7")
    late = find(automaton(life_like("3", "23")), 4, 0)
    assert (late.pictures, late.stopped) == ((), "time limit")


CHECKERBOARD = np.kron(np.indices((2, 2)).sum(axis=0) % 2, np.ones((2, 2), int)).astype(np.uint8)


def tiled(tile: list[list[int]] | np.ndarray, rows: int, columns: int) -> np.ndarray:
    tile = np.array(tile, np.uint8)
    copies = (-(-rows // tile.shape[0]), -(-columns // tile.shape[1]))
    return np.tile(tile, copies)[None, :rows, :columns]


@pytest.mark.parametrize(
    ("tile", "period"),
    [
        ([[1]], Period(1, 1)),
        ([[0], [1], [1]], Period(3, 1)),
        ([[1, 0], [0, 0]], Period(2, 2)),
        (CHECKERBOARD, Period(4, 4, (2, 2))),
        ([[1, 0, 0], [0, 0, 1], [0, 1, 0]], Period(3, 3, (1, 2))),
    ],
)
def test_known_periods(tile: list[list[int]], period: Period) -> None:
    assert repeats(tiled(tile, 12, 12)) == period


def test_one_wrong_cell_ends_it() -> None:
    bits = tiled(CHECKERBOARD, 16, 16)
    bits[0, 5, 9] ^= 1
    assert repeats(bits) == Period(16, 16)


@given(
    arrays(
        np.uint8,
        st.tuples(st.just(1), st.integers(1, 5), st.integers(1, 5)),
        elements=st.integers(0, 1),
    )
)
def test_the_shifts_of_a_torus(bits: np.ndarray) -> None:
    _, rows, columns = bits.shape
    same = {
        (dy, dx)
        for dy in range(rows)
        for dx in range(columns)
        if all(
            bits[0, y, x] == bits[0, (y + dy) % rows, (x + dx) % columns]
            for y in range(rows)
            for x in range(columns)
        )
    }
    period = repeats(bits)
    step = period.diagonal or (period.height, 0)
    described = {
        (step[0] * i % rows, (step[1] * i + period.width * j) % columns)
        for i in range(rows)
        for j in range(columns)
    }
    assert described == same
