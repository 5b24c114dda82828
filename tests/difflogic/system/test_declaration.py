"""Arguments of a wrong type are refused by name: what it got, and what to give."""

import re
from functools import partial

import numpy as np
import pytest

import difflogic
from difflogic import Conditions, Model, Rectangle

CIRCUIT = "docs/gallery/checkerboard.json"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        *(
            (partial(call, 3), ": is of type int: give str | pathlib.Path")
            for call in (difflogic.load, difflogic.load_config, Model.load, difflogic.watch)
        ),
        (lambda: difflogic.train_examples([]), "source: has no pair to learn from: give "),
        (lambda: difflogic.runs(None), "source: is of type NoneType: give str | pathlib.Path | "),
        (lambda: Conditions(damage=None), "damage: is of type NoneType: give "),
        (lambda: Rectangle((1,), "2", 0, 1, 1), "y: is of type str: give int"),
        (lambda: Conditions(steps="9"), "steps: is of type str: give int"),
        (lambda: Conditions(steps=2.5), "steps: is of type float: give int"),
        (lambda: Conditions(seed=True), "seed: is of type bool: give int"),
        (lambda: Conditions(size=5), "size: is of type int: give tuple[int, int]"),
        (lambda: Conditions(size=(5, 6, 7)), "size: is a tuple of 3: give tuple[int, int]"),
        (lambda: Conditions(damage=[1]), "damage: is a list of 1: give collections.abc.Sequence["),
        (lambda: Conditions(frame="first"), "frame: is of type str: give "),
        (lambda: difflogic.train("checkerboard-small", "training.epochs=3"), "overrides: is of"),
        (lambda: difflogic.simulate(CIRCUIT, workers=[1]), "Literal['auto']"),
        (lambda: difflogic.simulate(CIRCUIT, 3), "give difflogic.library.conditions.Conditions"),
    ],
)
def test_wrong_types_are_refused_by_name(call, says):
    with pytest.raises(difflogic.DctError, match=re.escape(says)):
        call()


def test_numbers_of_numpy_and_arrays_are_what_they_were():
    size = (np.int64(9), 8)
    damage = [Rectangle((1,), 0, 0, 1, 1)]
    start = np.ones((9, 8), np.uint8)
    given = Conditions(size, np.int32(2), start, fire_rate=np.float32(0.5), damage=damage)
    assert difflogic.simulate(CIRCUIT, given).step == 2
