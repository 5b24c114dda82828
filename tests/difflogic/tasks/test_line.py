"""What lines compute, compared with Python's integers."""

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.system.errors import ConfigError
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


def test_a_line_of_another_length_has_as_many_steps_more():
    task = make_task(load_config("addition"))
    assert [(each.width, each.automaton.steps) for each in task.stages] == [
        (width, width + 2) for width in (1, 2, 3, 4, 5, 6, 8)
    ]
    larger = task.larger()
    assert (larger.task.width, larger.steps) == (32, (34, 35))


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("task.height=2", "task] height"),
        ("automaton.steps=7", "automaton] steps"),
        ("task.stages=[4,8]", "task] stages"),
        ("task.stages=[0]", "task] stages"),
        ("task.loss_channels=[2,3]", "task] loss_channels"),
        ('task.computes="multiplication"', "computes"),
    ],
)
def test_what_is_no_line_is_refused(override, named):
    with pytest.raises(ConfigError, match=named.replace("]", r"\]")):
        load_config("addition", [override])


def test_inputs_need_channels_of_their_own():
    overrides = ["automaton.channels=2", "task.loss_channels=[1]", "update.gates=[32,16,8,4,2]"]
    with pytest.raises(ConfigError, match=r"\[automaton\] channels"):
        load_config("addition", overrides)
