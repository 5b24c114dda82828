"""Arguments of a wrong type are refused by name: what it got, and what to give."""

import numpy as np
import pytest

import difflogic
from difflogic import Conditions, Rectangle

CIRCUIT = "docs/gallery/checkerboard.json"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: difflogic.load(3), "source: is of type int: give a text or a path or Loaded or"),
        (lambda: Conditions(steps="9"), "steps: is of type str: give a whole number"),
        (lambda: Conditions(steps=2.5), "steps: is of type float: give a whole number"),
        (lambda: Conditions(seed=True), "seed: is of type bool: give a whole number"),
        (lambda: Conditions(size=5), "size: is of type int: give a list, each a whole number"),
        (lambda: Conditions(size=(5, 6, 7)), "size: is a tuple of 3: give a list, each a whole"),
        (lambda: Conditions(damage=[1]), "damage: is a list of 1: give a list, each Rectangle"),
        (lambda: Conditions(frame="first"), 'frame: is of type str: give .* or "last"'),
        (
            lambda: difflogic.compare("checkerboard-small", workers=["a"]),
            "workers: is a list of 1: give a list, each a whole number",
        ),
        (lambda: difflogic.render(CIRCUIT, "a.gif", frames=[1, 2]), "frames: is a list of 2: give"),
        (
            lambda: difflogic.train("checkerboard-small", "training.epochs=3"),
            "overrides: is of type str: give a list, each a text",
        ),
        (lambda: difflogic.simulate(CIRCUIT, workers=[1]), 'give a whole number or "auto"'),
        (lambda: difflogic.simulate(CIRCUIT, 3), "conditions: is of type int: give Conditions"),
    ],
)
def test_wrong_types_are_refused_by_name(call, says):
    with pytest.raises(difflogic.DctError, match=says):
        call()


def test_numbers_of_numpy_and_arrays_are_what_they_were():
    size = (np.int64(9), 8)
    damage = [Rectangle((1,), 0, 0, 1, 1)]
    start = np.ones((9, 8), np.uint8)
    given = Conditions(size, np.int32(2), start, density=np.float32(0.5), damage=damage)
    assert difflogic.simulate(CIRCUIT, given).step == 2
