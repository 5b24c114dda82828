"""Examples: what is sampled, listed as cases, staged and refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.circuit.gates import one_hot
from difflogic.config.checking import config_from_dict
from difflogic.engine import oracle
from difflogic.examples.pairs import Examples, Pair
from difflogic.experiment.example_ways import ways_to_learn
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose
from difflogic.tasks import make_task

ROWS = ["0010>0100", "020>200", "00030>00300"]
EXAMPLES = Examples(tuple("0123"), tuple(map(Pair.parse, ROWS)), (Pair.parse("010>100"),))


@pytest.fixture(scope="module")
def config():
    return ways_to_learn(EXAMPLES)[1].config


@pytest.fixture(scope="module")
def task(config):
    return make_task(config)


def test_cases_are_padded_and_do_not_count_outside(task):
    cases = task.find_cases()
    assert cases.name == "all 3 examples"
    assert cases.starts.shape == (3, 8, 1, 5)
    for start, target, row in zip(cases.starts[:, :, 0], cases.targets[:, 0, 0], ROWS, strict=True):
        before, after = (np.array([*side]) != "0" for side in row.split(">"))
        outside = [(0, 5 - len(before))]
        assert_array_equal(start[0], np.pad(before, outside))
        assert_array_equal(start[2], np.pad(before | True, outside))
        expected = np.pad(after.astype(float), outside, constant_values=np.nan)
        assert_array_equal(target, expected)


def test_an_epoch_draws_every_run_before_any_twice(task):
    starts, _ = task.draw_numbered(0, Purpose.START, 5, range(6))
    cases = {start.tobytes() for start in task.find_cases().starts}
    assert {start.tobytes() for start in starts[:3]} == cases
    assert (starts[:3] == starts[3:]).all()
    others, _ = task.draw_numbered(0, Purpose.START, 6, range(30))
    assert not (others[:3] == starts[:3]).all() or not (others[3:6] == starts[3:]).all()


def test_stages_have_the_smallest_examples_without_background():
    pairs = ["0011000>0110000", "2000000>0000002", "00033300>00333000"]
    config = ways_to_learn(Examples(tuple("0123"), tuple(map(Pair.parse, pairs))))[1].config
    assert config.task.stages == (3, 4)
    first, second, last = make_task(config).stages
    assert first.section.pairs == ("011>110",)
    assert second.section.pairs == ("011>110", "0333>3330")
    assert last.section.pairs == tuple(pairs)
    assert [stage.automaton.steps for stage in (first, second, last)] == [3, 4, 8]


def test_wires_carry_symbols_on():
    """A symbol moves by a cell in each step, a single one in two, to either side."""
    there = Pair.parse("00110002000>00000002011")
    back = Pair.parse("00020001100>11020000000")
    for rows, sides in ([there], [1]), ([back], [-1]), ([there, back], [1, -1]):
        pairs = Examples(tuple("012"), tuple(rows))
        ways = [way.config for way in ways_to_learn(pairs) if "-2" in way.words]
        assert [("single-right" in way.task.features) for way in ways] == [s > 0 for s in sides]
    for config, side in zip(ways, (1, -1), strict=True):
        model = Model.create(config)
        start = make_task(config).find_cases().starts[0]
        states = oracle.rollout(model.netlist, one_hot(model.ops), start, 6, "zero")
        for step, state in enumerate(states[1:], 1):
            _, block, first, second = state[:4, 0]
            expected = np.zeros(11)
            places = np.array([2, 3]) + side * step
            expected[places[places >= 0]] = 1
            assert_array_equal(block, expected)
            marked = first if step % 2 == 0 else second
            assert np.flatnonzero(marked).tolist() == [7 + side * ((step + 1) // 2)]
            assert first.sum() + second.sum() == 1


def test_shortened_examples_come_first(config):
    pairs = ["0111000>0000111", "2220000>0000222", "0000110>0011000"]
    data = config.to_dict()
    data["task"] |= {"pairs": pairs, "width": 7, "shortened": [1, 2, 9], "stages": [4]}
    stages = make_task(config_from_dict(data, "here")).stages
    listed = [stage.section.pairs for stage in stages]
    # The second pair has a gap of one cell. Nothing has nine equal columns.
    assert listed == [
        ("10>01", "200>002", "01>10"),
        ("1100>0011", "22000>00022", "0011>1100"),
        ("0011>1100",),
        tuple(pairs),
    ]


REFUSED = {
    "half": (
        {"features": ["single-right", "this", "inside"], "inputs": [1, 2]},
        "needs single-right-2 beside it",
    ),
    "other half": ({"features": ["this-right-2", "this", "inside"]}, "no feature"),
    "sizes": ({"width": 7}, "the largest grids have other sizes"),
    "text": ({"pairs": ["01>1"]}, "a pair needs two grids of one size"),
    "digits": ({"pairs": ["0x>x0"]}, "invalid literal"),
    "feature": ({"features": ["that", "another", "inside"]}, 'no feature "that"'),
    "symbol": ({"symbols": ["0", "1"]}, "a symbol has no name among 2 names"),
    "background": ({"background": 9}, "no symbol 9"),
    "channels": ({"inputs": [0, 1]}, "need inputs = [0, 1, 2]"),
    "stages": ({"stages": [5]}, "each must be shorter"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_keys_are_refused(config, what):
    changes, words = REFUSED[what]
    data = config.to_dict()
    data["task"] |= changes
    with pytest.raises(ConfigError) as caught:
        config_from_dict(data, "here")
    assert words in str(caught.value)
