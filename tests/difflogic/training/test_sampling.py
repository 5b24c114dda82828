import numpy as np

from difflogic.config import load_config
from difflogic.tasks import make_task
from difflogic.training.sampling import draw_epoch, draw_loss_steps, longest_rollout


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
    other = load_config(
        "checkerboard", ["automaton.steps=7", "training.later_steps=4", "training.seed=24"]
    )
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
