"""Lessons about places: against a plain oracle, cell by cell, and a run that learns them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.evaluation.exactness import assure
from difflogic.library.groups import PictureOptions
from difflogic.library.picture_experiment import experiment_for
from difflogic.pictures.picture import Picture
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.difflogic.training.tiny import trained


def config(height, width, bits=2, *overrides, **options):
    picture = np.random.default_rng(0).integers(0, 2, (bits, height, width), np.uint8)
    options = options or {"heal": True}
    plan = experiment_for(Picture("noise", picture), PictureOptions(teach=True, **options))
    return picture, load_config(plan.default, [*plan.overrides, *overrides])


def expected(state, picture):
    """Return what each cell should become, one cell after the other."""
    own, height, width = picture.shape
    target = np.zeros(state.shape)
    for y, x in product(range(height), range(width)):

        def number(y, x, first, count):
            if min(y, x) < 0:
                return 0
            return sum(int(state[first + bit, y, x]) << bit for bit in range(count))

        first = own
        believed = []
        for side, (dy, dx) in zip((height, width), ((1, 0), (0, 1)), strict=True):
            count = (side - 1).bit_length()
            following = (number(y - dy, x - dx, first, count) + 1) % 2**count
            for bit in range(count):
                target[first + bit, y, x] = following >> bit & 1
            believed.append((number(y, x, first, count) - 1) % 2**count)
            first += count
        if believed[0] < height and believed[1] < width:
            target[:own, y, x] = picture[:, *believed]
    return target


@settings(deadline=None, max_examples=40)
@given(
    st.integers(4, 12), st.integers(4, 12), st.integers(1, 3), st.booleans(), st.integers(0, 2**32)
)
def test_lessons_are_right_in_each_cell(height, width, bits, heals, seed):
    picture, made = config(height, width, bits, **({"heal": True} if heals else {"hold": True}))
    (lessons,) = make_task(made).stages
    start, target = lessons.draw(np.random.default_rng(seed))
    np.testing.assert_array_equal(target, expected(start, picture))


def test_lessons_of_a_search_are_the_growth_and_its_healing():
    picture, made = config(7, 9)
    (lessons,) = make_task(made).stages
    cases = lessons.find_cases()
    for start, target in zip(cases.starts, cases.targets, strict=True):
        np.testing.assert_array_equal(target, expected(start, picture))
    growth = 9 + 2
    assert not cases.starts[0].any()
    np.testing.assert_array_equal(cases.starts[1:growth], cases.targets[: growth - 1])
    np.testing.assert_array_equal(cases.targets[growth - 1], cases.starts[growth - 1])
    np.testing.assert_array_equal(cases.targets[growth - 1][:2], picture)
    assert any((start != cases.starts[growth - 1]).any() for start in cases.starts[growth:])


@pytest.mark.slow
def test_a_taught_run_is_proved_and_no_gate_is_wired():
    _, made = config(6, 5, 1, "parallel.workers=1", "training.epochs=6000")
    trainer, _ = trained(made)
    assert not trainer.first_model.layers.fixed.any()
    assert trainer.exact_epoch is not None
    found = assure(trainer.result)
    assert found.proved
    assert [healing.lasting for healing in found.healing] == [0, 0]


def test_what_cannot_be_taught_is_refused():
    with pytest.raises(ConfigError, match="9 channels are needed"):
        config(8, 7, 3, "automaton.channels=10")
    picture = Picture("two", np.zeros((1, 5, 5), np.uint8))
    with pytest.raises(ConfigError, match="--teach goes neither with --second nor"):
        experiment_for(picture, PictureOptions(teach=True, channels=64))
    with pytest.raises(ConfigError, match="--tough wires what --teach would teach"):
        experiment_for(picture, PictureOptions(teach=True, tough=True))
    large = Picture("large", np.zeros((1, 65, 5), np.uint8))
    with pytest.raises(ConfigError, match="more than 64×64 with --teach"):
        experiment_for(large, PictureOptions(teach=True))
