"""Where automata settle, for rules of which one knows it, and compared with plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from difflogic.inspection import settling
from difflogic.inspection.periods import Period
from difflogic.inspection.settling import STARTS, settle
from difflogic.model.automaton import Automaton
from difflogic.system.deadline import Deadline
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import from_function, life_like, random_circuit

KEEP = from_function(lambda board: int(board[1, 1]))
INVERT = from_function(lambda board: 1 - int(board[1, 1]))
MOVE = from_function(lambda board: int(board[1, 0]))


def test_what_stays() -> None:
    found = settle(automaton(KEEP), 0, 20)
    assert found is not None
    assert (found.starts, found.fixed, found.cycles, found.unsettled) == (STARTS, STARTS, {}, 0)


def test_what_blinks() -> None:
    found = settle(automaton(INVERT), 0, 20)
    assert found is not None
    assert (found.fixed, found.cycles, found.unsettled) == (0, {2: STARTS}, 0)


def test_what_runs_round_the_torus() -> None:
    found = settle(automaton(MOVE, height=1, width=7), 3, 20)
    assert found is not None
    # All cells alike are fixed, which a start in 64 may be; seven is prime.
    assert found.cycles[7] + found.fixed == STARTS
    assert sum(found.periods.values()) == STARTS
    assert found.periods[Period(1, 7)] == found.cycles[7]


def test_what_leaves_a_bounded_grid() -> None:
    found = settle(automaton(MOVE, height=3, width=4, boundary="zero"), 0, 20)
    assert found is not None
    assert found.fixed == STARTS
    assert found.periods == {Period(1, 1): STARTS}
    early = settle(automaton(MOVE, height=3, width=4, boundary="zero", steps=3), 0, 20)
    assert early is not None
    assert 0 < early.unsettled < STARTS


@pytest.mark.parametrize("start", ["zeros", "center"])
def test_one_start(start: str) -> None:
    # A blinker needs three cells, one cell dies at once.
    found = settle(automaton(life_like("3", "23"), start=start, steps=1), 0, 20)
    assert found is not None
    assert (found.starts, found.fixed, found.periods) == (1, 1, {Period(1, 1): 1})
    blinks = settle(automaton(life_like("01", ""), start=start, steps=1), 0, 20)
    assert blinks is not None
    assert blinks.fixed == 0


def test_asynchronous() -> None:
    fixed = settle(automaton(KEEP, fire_rate=0.5), 0, 20)
    assert fixed is not None
    assert (fixed.fixed, fixed.searched) == (STARTS, 1)
    moving = settle(automaton(INVERT, fire_rate=0.5, start="center"), 0, 20)
    assert moving is not None
    assert (moving.starts, moving.fixed, moving.unsettled) == (STARTS, 0, STARTS)


def test_fire_rate() -> None:
    grow = from_function(lambda board: 1)
    example = automaton(grow, start="zeros", fire_rate=0.25, steps=1, height=40, width=40)
    state = settling._run(example, np.zeros((1, 40, 40), np.uint64), 0, Deadline.after(9))
    assert state is not None
    share = np.bitwise_count(state).sum() / (64 * 40 * 40)
    assert abs(share - 0.25) < 0.01
    assert len(np.unique(state)) == state.size  # every cell and start of its own


@pytest.mark.parametrize("boundary", ["zero", "periodic"])
def test_a_step_is_that_of_a_plain_loop(boundary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "_CELLS", 7)
    rng = np.random.default_rng(0)
    circuit = random_circuit(rng, channels=2, gates=40)
    example = automaton(circuit, boundary=boundary)
    state = rng.integers(0, 2, (2, 5, 7)).astype(np.uint64)
    expected = plain_step(example, state)
    assert (settling._step(example, state) & np.uint64(1) == expected).all()


def plain_step(example: Automaton, state: np.ndarray) -> np.ndarray:
    channels, height, width = state.shape
    after = np.empty_like(state)
    for y in range(height):
        for x in range(width):
            seen = []
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    inside = 0 <= y + dy < height and 0 <= x + dx < width
                    for channel in range(channels):
                        cell = state[channel, (y + dy) % height, (x + dx) % width]
                        seen.append(
                            bool(cell) if inside or example.boundary == "periodic" else False
                        )
            after[:, y, x] = example.circuit.next_state(np.array(seen)[:, None])[:, 0]
    return after


def test_no_time() -> None:
    assert settle(automaton(KEEP), 0, 0) is None
