"""Mazes and lines whose first channel is given."""

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.difflogic.proof.test_every_size import distances


def test_what_is_near_is_lit_and_what_is_far_does_not_count():
    task = make_task(load_config("flood"))
    far = 0
    for seed in range(40):
        start, target = task.draw(np.random.default_rng(seed))
        ((y, x),) = np.argwhere(start[1])
        away = distances(start[0], y, x)
        expected = np.where(away > task.automaton.steps, np.nan, away >= 0)
        np.testing.assert_array_equal(target[0], expected)
        far += int(np.isnan(target).sum())
    assert far


@pytest.mark.parametrize("computes", ["sorting", "majority"])
def test_lines_are_sorted(computes):
    task = make_task(load_config("sorting", ["task.stages=[3,5]", f'task.computes="{computes}"']))
    for stage in task.stages:
        width = stage.width
        assert stage.automaton.steps == width
        for seed in range(20):
            start, target = stage.draw(np.random.default_rng(seed))
            ones = int(start[1].sum())
            expected = [0.0] * (width - ones) + [1.0] * ones
            if computes == "majority":
                assert target[0, 0, width // 2] == (2 * ones > width)
                assert np.isnan(target).sum() == width - 1
            else:
                assert target.ravel().tolist() == expected
    assert task.rule is not None
    assert all(stage.rule is None for stage in task.stages[:-1])


@pytest.mark.parametrize(
    ("name", "overrides", "says"),
    [
        ("flood", ["task.inputs=[]"], r"\[task\] inputs: channel 0 is given"),
        ("sorting", ["task.loss_channels=[0]", "task.inputs=[1]"], r"\[task\] inputs: channel 0"),
        ("sorting", ['task.computes="majority"'], r"\[task\] width: a line has a middle cell"),
    ],
)
def test_settings_that_fit_no_task_are_refused(name, overrides, says):
    with pytest.raises(ConfigError, match=says):
        load_config(name, overrides)
