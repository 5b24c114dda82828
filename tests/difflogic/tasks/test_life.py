"""Life-like rules, compared with SciPy's convolution and with known patterns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.system.streams import Purpose, stream
from difflogic.tasks import life as life_module
from difflogic.tasks.life import Life
from tests.difflogic.tasks import made
from tests.difflogic.tasks.made import automaton
from tests.examples import any_boundary, any_seed
from tests.marks import each_boundary

KERNEL = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
CORNERLESS = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
"""A hexagon's cells, symmetric under half a turn, as a convolution needs."""
RULES = ["B3/S23", "B36/S23", "B2/S", "B1357/S1357", "B0/S8", "B/S012345678", "B3678/S34678"]


def life(channels, height, width, boundary="periodic", steps=1, rule="B3/S23", loss_channels=(0,)):
    return made.task(
        Life,
        automaton(channels, boundary, steps),
        kind="life",
        height=height,
        width=width,
        rule=rule,
        loss_channels=loss_channels,
    )


def successor(board, rule, boundary, around=KERNEL):
    """The next board, from a convolution and the digits of the rule."""
    mode = {"zero": "constant", "periodic": "wrap"}[boundary]
    from scipy import ndimage

    counts = ndimage.convolve(board, around, mode=mode)
    born, survive = rule.removeprefix("B").split("/S")
    lives = np.where(
        board == 1,
        np.isin(counts, [int(digit) for digit in survive]),
        np.isin(counts, [int(digit) for digit in born]),
    )
    return lives.astype(np.uint8)


rules = st.one_of(
    st.sampled_from(RULES),
    st.builds(
        lambda born, survive: f"B{''.join(sorted(born))}/S{''.join(sorted(survive))}",
        st.sets(st.sampled_from("012345678")),
        st.sets(st.sampled_from("012345678")),
    ),
)


def test_a_single_periodic_cell_is_its_own_neighbour():
    alive = np.ones((1, 1), np.uint8)
    assert life(1, 1, 1, "periodic", rule="B3/S8").advance(alive).item() == 1
    assert life(1, 1, 1, "periodic", rule="B3/S23").advance(alive).item() == 0
    assert life(1, 1, 1, "zero", rule="B3/S0").advance(alive).item() == 1


@given(rules, any_boundary, st.integers(1, 4), any_seed)
def test_samples(rule, boundary, steps, seed):
    task = life(4, 5, 6, boundary, steps, rule, (2, 0))
    start, target = task.sample(np.random.default_rng(seed))
    assert (start.shape, start.dtype) == ((4, 5, 6), np.uint8)
    assert (target.shape, target.dtype) == ((2, 5, 6), np.float64)
    assert not start[[1, 3]].any()
    assert_array_equal(start[0], start[2])
    board = start[0]
    for _ in range(steps):
        board = successor(board, rule, boundary)
    assert_array_equal(target, np.stack([board, board]))


def test_cases_are_all_boards():
    cases = life(3, 5, 4, "zero", loss_channels=(2, 0)).cases()
    boards = cases.starts[:, 0]
    assert len(np.unique(boards.reshape(512, 9), axis=0)) == 512
    assert_array_equal(cases.starts[:, 2], boards)
    assert not cases.starts[:, 1].any()
    expected = np.array([successor(board, "B3/S23", "periodic") for board in boards])
    assert_array_equal(cases.targets, np.stack([expected, expected], axis=1))
    assert life(1, 3, 3, steps=2).cases() is None


@each_boundary
@pytest.mark.parametrize("rule", ["B3/S23V", "B2/S34H", "B0/S", "B024/S13V"])
def test_neighbourhoods_of_fewer_cells(rule, boundary):
    board = np.random.default_rng(0).integers(0, 2, (7, 6), np.uint8)
    around = {"V": KERNEL * CROSS, "H": KERNEL * CORNERLESS}.get(rule[-1], KERNEL)
    found = life(1, 7, 6, boundary, rule=rule).advance(board)
    assert_array_equal(found, successor(board, rule.rstrip("VH"), boundary, around))


@pytest.mark.parametrize("purpose", [Purpose.START, Purpose.HELD_OUT_START])
@pytest.mark.parametrize("first", [0, 5, 2**62])
def test_epochs_drawn_ahead_are_the_same(purpose, first, monkeypatch):
    monkeypatch.setattr(life_module, "EPOCHS_AHEAD", 4)
    task = life(3, 3, 5, loss_channels=[0, 2], steps=2)
    for epoch in (0, 1, 3, 4, 9, 2, 10**6):
        numbers = range(first, first + 3)
        expected = task.draw_all(stream(7, purpose, epoch, number) for number in numbers)
        for _ in range(2):  # changing a batch does not change the next one
            found = task.draw_numbered(7, purpose, epoch, numbers)
            assert_array_equal(found[0], expected[0])
            assert_array_equal(found[1], expected[1])
            found[0][:] = 1
