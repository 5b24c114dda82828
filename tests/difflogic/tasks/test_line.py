"""Computations on lines, compared with Python's integers."""

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.tasks import make_task

EXPECTED = {
    "addition": lambda a, b, bits: a + b,
    "subtraction": lambda a, b, bits: a - b,
    "parity": lambda a, b, bits: sum(
        (a % (1 << place + 1)).bit_count() % 2 << place for place in range(bits)
    ),
    "comparison": lambda a, b, bits: sum(
        (a % (1 << place + 1) > b % (1 << place + 1)) << place for place in range(bits)
    ),
}


def number(bits):
    return int("".join(map(str, np.asarray(bits, int))), 2)


@pytest.mark.parametrize("computes", EXPECTED)
@pytest.mark.parametrize("width", [1, 5, 40])
def test_targets(computes, width):
    task = make_task(load_config("addition", [f'task.computes="{computes}"'])).on_grid(1, width)
    for seed in range(20):
        start, target = task.draw(np.random.default_rng(seed))
        wanted = EXPECTED[computes](number(start[0, 0]), number(start[1, 0]), width)
        assert number(target[0, 0]) == wanted % (1 << width)
        assert not start[2:].any()


def test_longer_lines_take_more_steps():
    task = make_task(load_config("addition"))
    assert [(each.width, each.automaton.steps) for each in task.stages] == [
        (width, width + 2) for width in (1, 2, 3, 4, 5, 6, 8)
    ]
    larger = task.larger()
    assert (larger.task.width, larger.steps) == (32, (34, 35))


def test_voting():
    task = make_task(load_config("voting"))
    assert [each.automaton.steps for each in task.stages] == [1, 3, 4, 6, 9, 12]
    for stage in task.stages:
        for seed in range(20):
            start, target = stage.draw(np.random.default_rng(seed))
            assert start.any(axis=0).all()
            more = int(start[0].sum()) - int(start[1].sum())
            neither = [(1, 1)] * (stage.width - abs(more))
            assert (
                list(zip(*target[:, 0], strict=True))
                == [(more > 0, more < 0)] * abs(more) + neither
            )
    assert [stage.rule is None for stage in task.stages] == [True] * 5 + [False]


@pytest.mark.parametrize("computes", ["sorting", "majority"])
def test_sorting_and_majority(computes):
    task = make_task(load_config("sorting", ["task.stages=[3,5]", f'task.computes="{computes}"']))
    for stage in task.stages:
        width = stage.width
        assert stage.automaton.steps == width
        for seed in range(20):
            start, target = stage.draw(np.random.default_rng(seed))
            expected = np.sort(start[1, 0]).astype(float)
            if computes == "majority":
                expected[np.arange(width) != width // 2] = np.nan
            np.testing.assert_array_equal(target[0, 0], expected)
    assert [stage.rule is None for stage in task.stages] == [True] * 2 + [False]
