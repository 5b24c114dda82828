"""Fixed points, compared with all states of small tori."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.inspection.fixed_points import canonical, find
from difflogic.model.automaton import Automaton
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import circuits, from_function, life_like


def step(circuit: Circuit, states: np.ndarray) -> np.ndarray:
    """The states (C, height, width, n) after one step on a torus, by rolling whole grids."""
    seen = [np.roll(states, (-dy, -dx), axis=(1, 2)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    inputs = np.stack(seen).reshape(circuit.inputs, -1)
    return circuit.next_state(inputs).reshape(states.shape)


def all_pictures(example: Automaton, bound: int) -> set[bytes]:
    """What the visible channels of all fixed points show, up to translation."""
    circuit, found = example.circuit, set()
    for height, width in itertools.product(range(1, bound + 1), repeat=2):
        bits = circuit.channels * height * width
        numbers = np.arange(2**bits)
        states = (numbers >> np.arange(bits)[:, None] & 1).astype(bool)
        states = states.reshape(circuit.channels, height, width, -1)
        still = (step(circuit, states) == states).all(axis=(0, 1, 2))
        for n in np.flatnonzero(still):
            shown = states[list(example.visible_rows), :, :, n]
            found.add(smallest(shown))
    return found


def smallest(shown: np.ndarray) -> bytes:
    """A name for a picture on the plane: its values on a large square, however shifted."""
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
def test_channels_that_are_not_visible(circuit: Circuit) -> None:
    example = automaton(circuit, visible=circuit.labels[:1])
    found = find(example, 2, 20, most=1000)
    assert {smallest(picture.bits) for picture in found.pictures} == all_pictures(example, 2)


def test_still_lifes() -> None:
    example = automaton(life_like("3", "23"))
    found = find(example, 4, 30)
    assert {smallest(picture.bits) for picture in found.pictures} == all_pictures(example, 4)
    block = canonical(np.array([[[1, 1, 0], [1, 1, 0], [0, 0, 0]]], np.uint8))
    assert smallest(block.bits) in {smallest(picture.bits) for picture in found.pictures}


def test_none() -> None:
    found = find(automaton(from_function(lambda board: 1 - int(board[1, 1]))), 3, 20)
    assert found.pictures == ()
    assert found.stopped is None


def test_more_than_are_listed() -> None:
    found = find(automaton(from_function(lambda board: int(board[1, 1]))), 4, 20, most=7)
    assert len(found.pictures) == 7
    assert found.stopped == "more than 7"


def test_no_time() -> None:
    found = find(automaton(life_like("3", "23")), 4, 0)
    assert found.pictures == ()
    assert found.stopped == "time limit"
