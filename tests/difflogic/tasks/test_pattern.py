import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task


def test_lizard_grows_from_the_middle_cell():
    task = make_task(load_config("lizard"))
    assert task.name == "pattern"
    assert task.loss_channels == (0,)
    start, target = task.sample(np.random.default_rng(0))
    assert (start.shape, start.dtype) == ((128, 20, 20), np.uint8)
    assert np.argwhere(start.any(axis=0)).tolist() == [[10, 10]]
    assert start[:, 10, 10].all()
    assert (target.shape, target.dtype) == ((1, 20, 20), np.float64)
    assert target.sum() == 121  # the published hard loss of an untrained circuit
    rows = load_config("lizard").task.target.splitlines()
    expected = [[sign == "#" for sign in row] for row in rows]
    np.testing.assert_array_equal(target[0], expected)


def test_letter_grows_from_zeros():
    config = load_config("letter-g")
    start, target = make_task(config).sample(np.random.default_rng(0))
    assert start.shape == (64, 16, 16)
    assert not start.any()
    assert target.shape == (3, 16, 16)
    rows = config.task.target.splitlines()
    for channel, letters in enumerate(("ry", "gy", "b")):
        expected = [[sign in letters for sign in row] for row in rows]
        np.testing.assert_array_equal(target[channel], expected)


@pytest.mark.parametrize(("boundary", "places"), [("periodic", 400), ("zero", 16 * 16)])
def test_patches_are_in_every_place(boundary, places):
    config = load_config(
        "lizard", ["task.hold=true", "task.heal=[5]", f"automaton.boundary={boundary}"]
    )
    (patches,) = make_task(config).patches.values()
    assert patches.shape == (places, 20, 20)
    assert len(np.unique(patches, axis=0)) == places
    assert (patches.sum(axis=(1, 2)) == 25).all()
    around = np.zeros((20, 20), np.uint8)
    around[np.ix_([18, 19, 0, 1, 2], [7, 8, 9, 10, 11])] = 1
    assert (patches == around).all(axis=(1, 2)).any() == (boundary == "periodic")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["task.heal=[5]"], "[task] heal: a picture can only heal if it stays: set hold = true"),
        (
            ["task.hold=true", "task.heal=[3,20]"],
            "[task] heal: a patch of 20×20 cells leaves nothing of a row or column of 20×20 cells: "
            "use at most 19",
        ),
        (["task.hold=true", "automaton.fire_rate=0.5"], "[task] hold: only a run that repeats"),
    ],
)
def test_invalid_hold_and_heal(overrides, message):
    with pytest.raises(ConfigError) as error:
        load_config("lizard", overrides)
    assert message in str(error.value)
