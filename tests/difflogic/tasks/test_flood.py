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


def core(marks, free):
    """Free cells without dead ends, and when each of the others goes out; one cell at a time."""
    gone, left, step = {}, {tuple(cell) for cell in np.argwhere(free)}, 0
    while True:
        step += 1
        ends = [
            (y, x)
            for y, x in left
            if not marks[y, x] and len(left & {(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)}) < 2
        ]
        if not ends:
            return left, gone
        left = left - set(ends)
        gone |= dict.fromkeys(ends, step)


def test_dead_ends_go_out_and_those_that_take_longer_do_not_count():
    task = make_task(load_config("dead-ends"))
    slow = 0
    for seed in range(40):
        start, target = task.draw(np.random.default_rng(seed))
        assert 1 <= start[0].sum() <= 2
        left, gone = core(start[0], start[1])
        expected = np.zeros_like(target[0])
        for cell in left:
            expected[cell] = 1
        for cell, step in gone.items():
            expected[cell] = np.nan if step > task.automaton.steps else 0
        np.testing.assert_array_equal(target[0], expected)
        slow += int(np.isnan(target).sum())
    assert slow


def test_votes_are_counted():
    task = make_task(load_config("voting"))
    assert [each.automaton.steps for each in task.stages] == [1, 3, 4, 6, 9, 12]
    for stage in task.stages:
        for seed in range(20):
            start, target = stage.draw(np.random.default_rng(seed))
            assert start.any(axis=0).all()
            more = int(start[0].sum()) - int(start[1].sum())
            kept = ["yes" if more > 0 else "no"] * abs(more) + ["neither"] * stage.width
            shown = [
                {(1, 0): "yes", (0, 1): "no", (1, 1): "neither"}[tuple(b)] for b in target[:, 0].T
            ]
            assert shown == kept[: stage.width]
    assert task.rule is not None
    assert all(stage.rule is None for stage in task.stages[:-1])
    with pytest.raises(ConfigError, match="too few for 9 cells"):
        load_config("voting", ["automaton.steps=11"])


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
        ("flood", ["task.inputs=[]"], r"\[task\] inputs: channel 0 is the input"),
        ("sorting", ["task.loss_channels=[0]", "task.inputs=[1]"], r"\[task\] inputs: channel 0"),
        ("dead-ends", ["task.inputs=[]"], r"\[task\] inputs: channel 0"),
        ("voting", ["task.loss_channels=[0]"], r"\[task\] loss_channels: votes move"),
        ("sorting", ['task.computes="majority"'], r"\[task\] width: majority needs a middle cell"),
    ],
)
def test_settings_that_fit_no_task_are_refused(name, overrides, says):
    with pytest.raises(ConfigError, match=says):
        load_config(name, overrides)
