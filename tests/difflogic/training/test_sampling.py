import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.config import load_config
from difflogic.training.sampling import attempt_of, draw_loss_steps, draw_samples
from tests.difflogic.training.tiny import tiny


def problem_of(*overrides):
    return load_config("checkerboard", ["automaton.steps=7", *overrides]).problem


def test_each_epoch_draws_a_later_step():
    assert {draw_loss_steps(problem_of(), epoch) for epoch in range(50)} == {(7,)}
    problem = problem_of("training.later_steps=4")
    drawn = [draw_loss_steps(problem, epoch) for epoch in range(2000)]
    assert {steps[0] for steps in drawn} == {7}
    counts = np.bincount([steps[1] for steps in drawn])
    assert len(counts) == 12
    assert not counts[:8].any()
    # Five standard deviations of a binomial count.
    assert_allclose(counts[8:], 500, atol=5 * np.sqrt(2000 * 0.25 * 0.75))
    assert draw_loss_steps(problem, 123) == drawn[123]
    other = problem_of("training.later_steps=4", "training.seed=24")
    assert [draw_loss_steps(other, epoch) for epoch in range(2000)] != drawn


def test_later_steps_do_not_change_earlier_masks():
    config = load_config("checkerboard-async")
    longer = load_config("checkerboard-async", ["training.later_steps=4"])
    starts, targets, masks, _ = draw_samples(config.problem, 5)
    same_starts, same_targets, more_masks, _ = draw_samples(longer.problem, 5)
    assert more_masks.shape[1] == masks.shape[1] + 4
    assert_array_equal(more_masks[:, :-4], masks)
    assert_array_equal(same_starts, starts)
    assert_array_equal(same_targets, targets)


def test_attempts_follow_each_other():
    training = tiny("training.restart_every=7", "finishing.every=5").training
    assert [attempt_of(training, epoch) for epoch in (0, 6, 7, 13, 14)] == [0, 0, 1, 1, 2]
    assert {attempt_of(tiny().training, epoch) for epoch in (0, 1, 10**9 - 1)} == {0}
