import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.errors import ConfigError
from difflogic.streams import Purpose
from difflogic.tasks import (
    draw_batch,
    draw_epoch,
    draw_loss_steps,
    draw_masks,
    longest_rollout,
    make_task,
)


@pytest.fixture
def task():
    return make_task(load_config("checkerboard", ["task.loss_channels=[0, 3]"]))


class WrongTarget:
    name = "wrong"
    loss_channels = (0,)

    def __init__(self, value):
        self.value = value

    def sample(self, rng):
        target = np.zeros((1, 2, 3))
        if rng.random() < 0.5:
            target[0, 1, 2] = self.value
        return np.zeros((1, 2, 3), np.uint8), target


def test_shapes_and_types(task):
    starts, targets = draw_batch(task, seed=1, epoch=2, batch=3)
    assert starts.shape == (3, 8, 16, 16)
    assert starts.dtype == np.uint8
    assert targets.shape == (3, 2, 16, 16)
    assert targets.dtype == np.float64
    assert targets.flags.writeable


def test_a_sample_does_not_depend_on_the_batch_it_is_in(task):
    few, many = (draw_batch(task, 1, 2, batch)[0] for batch in (2, 5))
    np.testing.assert_array_equal(few, many[:2])


def test_batches_differ_by_seed_epoch_sample_and_purpose(task):
    batches = [
        draw_batch(task, 1, 0, 2)[0],
        draw_batch(task, 2, 0, 2)[0],
        draw_batch(task, 1, 1, 2)[0],
        draw_batch(task, 1, 0, 2, Purpose.HELD_OUT_START)[0],
    ]
    assert len({sample.tobytes() for batch in batches for sample in batch}) == 8


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_target_that_is_no_number_is_an_error(value):
    with pytest.raises(ConfigError, match=rf'task "wrong": .* is {value} in .* row 1, column 2'):
        draw_batch(WrongTarget(value), 0, 0, 64)


def test_unknown_kind():
    config = load_config("checkerboard")
    config = config.model_copy(update={"task": config.task.model_copy(update={"kind": "chekers"})})
    with pytest.raises(ConfigError, match='no task "chekers": did you mean "checkerboard"'):
        make_task(config)


def test_masks():
    masks = draw_masks(5, 1, batch=3, steps=20, height=7, width=9, fire_rate=0.6)
    assert masks.shape == (3, 20, 7, 9)
    assert masks.dtype == np.uint8
    assert set(np.unique(masks)) == {0, 1}
    spread = np.sqrt(0.6 * 0.4 / masks.size)
    assert abs(masks.mean() - 0.6) < 4 * spread
    flat = masks.reshape(60, 63)
    assert len({mask.tobytes() for mask in flat}) == 60


def test_masks_do_not_depend_on_batch_or_rate():
    sizes = {"steps": 4, "height": 5, "width": 5}
    few = draw_masks(5, 1, batch=1, fire_rate=0.3, **sizes)
    many = draw_masks(5, 1, batch=3, fire_rate=0.3, **sizes)
    higher = draw_masks(5, 1, batch=1, fire_rate=0.5, **sizes)
    np.testing.assert_array_equal(few[0], many[0])
    assert (higher >= few).all()
    assert (draw_masks(5, 1, 1, 4, 5, 5, 0.3, Purpose.HELD_OUT_MASK) != few).any()


def test_no_mask_where_all_cells_fire():
    assert draw_masks(5, 1, 2, 3, 4, 5, fire_rate=1.0) is None


def test_the_last_step_is_compared_with_and_no_other():
    config = load_config("checkerboard", ["automaton.steps=7"])
    assert longest_rollout(config) == 7
    assert {draw_loss_steps(config, epoch) for epoch in range(50)} == {(7,)}


def test_a_later_step_is_drawn_anew_at_each_epoch():
    config = load_config("checkerboard", ["automaton.steps=7", "training.later_steps=4"])
    assert longest_rollout(config) == 11
    drawn = [draw_loss_steps(config, epoch) for epoch in range(2000)]
    assert {steps[0] for steps in drawn} == {7}
    counts = np.bincount([steps[1] for steps in drawn])
    assert len(counts) == 12
    assert not counts[:8].any()
    # Five standard deviations of a binomial count.
    np.testing.assert_allclose(counts[8:], 500, atol=5 * np.sqrt(2000 * 0.25 * 0.75))
    assert draw_loss_steps(config, 123) == drawn[123]
    other = load_config("checkerboard", [
        "automaton.steps=7", "training.later_steps=4", "training.seed=24",
    ])  # fmt: skip
    assert [draw_loss_steps(other, epoch) for epoch in range(2000)] != drawn


def test_masks_of_the_first_steps_stay_the_same_if_there_are_later_ones():
    config = load_config("checkerboard-async")
    longer = load_config("checkerboard-async", ["training.later_steps=4"])
    starts, targets, masks = draw_epoch(make_task(config), config, 5)
    same_starts, same_targets, more_masks = draw_epoch(make_task(config), longer, 5)
    assert more_masks.shape[1] == masks.shape[1] + 4
    np.testing.assert_array_equal(more_masks[:, :-4], masks)
    np.testing.assert_array_equal(same_starts, starts)
    np.testing.assert_array_equal(same_targets, targets)
