"""Counts of wrong cells, in blocks of any size."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.config import load_config
from difflogic.evaluation import trial
from difflogic.evaluation.scene import Damage, Streams
from difflogic.evaluation.scene import scene_of as scene_of_task
from difflogic.evaluation.trial import Trial, count_wrong
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import make_task
from tests.difflogic.evaluation.naive import drawn, random_model, rollout
from tests.difflogic.training.tiny import tiny


def scene_of(config, streams, at, **changes):
    return replace(scene_of_task(make_task(config), streams, at), **changes)


STREAMS = Streams(5, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, 2)
STARTS = 5


def hits(damage, grid, sample):
    """Return a function that zeroes a square after each step."""
    room = [grid.height - damage.size + 1, grid.width - damage.size + 1]
    rng = stream(STREAMS.seed, Purpose.EVALUATION_DAMAGE, STREAMS.epoch, sample)
    corners = rng.integers(0, room, size=(damage.until, 2)).tolist()

    def zero(step, state):
        if step <= damage.until:
            y, x = corners[step - 1]
            state[:, y : y + damage.size, x : x + damage.size] = 0

    return zero


def expected_counts(model, scene, config, by_cell):
    """Wrong bits or cells (counts, starts), step by step."""
    steps = scene.at[-1]
    starts, targets, masks = drawn(config, STREAMS, STARTS, steps, scene.fire_rate)
    counts = np.zeros((len(scene.at), STARTS), int)
    for n in range(STARTS):
        zero = scene.damage and hits(scene.damage, scene.grid, n)
        states = rollout(model, starts[n], steps, masks=masks[n], damage=zero)
        for row, step in enumerate(scene.at):
            errors = abs(states[step - 1][list(scene.channels)] - targets[n]) > 0.5  # NaN is none
            counts[row, n] = errors.any(axis=0).sum() if by_cell else errors.sum()
    return counts


@pytest.mark.parametrize("fire_rate", [1.0, 0.6])
@pytest.mark.parametrize("damage", [None, Damage(3, 7, anywhere=True)])
def test_counts_agree_with_plain_numpy_at_any_block_size(fire_rate, damage, monkeypatch):
    """Trials count bits, and final tests count cells: one is wrong if any of its bits is."""
    config = tiny("task.height=9", "task.width=8", "task.loss_channels=[0,1]")
    model = random_model(config)
    scene = scene_of(config, STREAMS, (1, 4, 9, 10), fire_rate=fire_rate, damage=damage)
    bits = expected_counts(model, scene, config, by_cell=False)
    cells = expected_counts(model, scene, config, by_cell=True)
    assert len(np.unique(cells)) > 3
    assert (bits > cells).any()
    for values, events in ((2**26, 2**24), (2 * 72 * 2, 2**24), (2**26, 1), (1, 3 * 72)):
        monkeypatch.setattr(trial, "VALUES_AT_ONCE", values)
        monkeypatch.setattr(trial, "EVENTS_AT_ONCE", events)
        found = count_wrong(model.netlist, model.ops, scene, STARTS)
        assert_array_equal(found, cells)
        for samples in ((0, 1, 2, 3, 4), (4, 0, 4)):
            check = Trial(model.netlist, scene, samples)
            assert check.samples == samples
            for _ in range(2):
                assert_array_equal(check(model.ops), bits[:, samples])


def test_uncounted_cells():
    config = load_config("flood", ["automaton.steps=2", "task.height=9", "training.seed=1"])
    model = random_model(config, seed=2)  # shows ones, also where no cell counts
    scene = scene_of(config, STREAMS, (1, 2, 5))
    assert np.isnan(scene.draw(0, STARTS)[1]).any()
    expected = expected_counts(model, scene, config, by_cell=True)
    assert len(np.unique(expected)) > 3
    found = count_wrong(model.netlist, model.ops, scene, STARTS)
    assert_array_equal(found, expected)
    known = np.isfinite([scene.draw(n, 1)[1][0, 0] for n in range(70)])
    assert scene.counted(70) == known.sum() < scene.cells * 70
    plain = replace(scene, ignored=np.eye(9, 8, dtype=np.uint8))
    assert plain.counted(70) == (known & (plain.ignored == 0)).sum()
    assert (count_wrong(model.netlist, model.ops, plain, STARTS) <= expected).all()
