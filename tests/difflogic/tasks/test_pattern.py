import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.tasks import make_task


@pytest.mark.parametrize(
    ("name", "letters", "size", "begun"),
    [("lizard", "#", (128, 20, 20), [[10, 10]]), ("letter-g", ["ry", "gy", "b"], (64, 16, 16), [])],
)
def test_pictures_grow_from_the_middle_cell_or_from_zeros(name, letters, size, begun):
    config = load_config(name)
    start, target = make_task(config).sample(np.random.default_rng(0))
    assert (start.shape, start.dtype, target.dtype) == (size, np.uint8, np.float64)
    assert np.argwhere(start.all(axis=0)).tolist() == begun
    assert np.argwhere(start.any(axis=0)).tolist() == begun
    rows = config.task.target.splitlines()
    expected = [[[sign in signs for sign in row] for row in rows] for signs in letters]
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize(("boundary", "places"), [("periodic", 20), ("zero", 16)])
def test_patches_are_in_every_place(boundary, places):
    keys = ["task.hold=true", "task.heal=[5]", f"automaton.boundary={boundary}"]
    (patches,) = make_task(load_config("lizard", keys)).patches.values()
    square = np.zeros((20, 20), np.uint8)
    square[:5, :5] = 1
    expected = {np.roll(square, at, (0, 1)).tobytes() for at in np.ndindex(places, places)}
    assert sorted(patch.tobytes() for patch in patches) == sorted(expected)
