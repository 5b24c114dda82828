from dataclasses import replace

import numpy as np
import pytest

from difflogic import gates
from difflogic.engine import oracle
from difflogic.evaluation import held_out, trial
from difflogic.gates import Op
from difflogic.model import Model
from difflogic.streams import Purpose
from difflogic.tasks import draw_batch, draw_masks, make_task
from tests.difflogic.training.tiny import tiny


def random_model(config, seed=0):
    model = Model.create(config)
    logits = np.random.default_rng(seed).normal(size=model.logits.shape).astype(np.float32)
    return replace(model, logits=logits)


@pytest.mark.parametrize("fire_rate", [1, 0.6])
def test_wrong_cells_are_those_of_the_oracle(fire_rate):
    config = tiny(f"automaton.fire_rate={fire_rate}", "task.loss_channels=[1,0]")
    model = random_model(config)
    scores = held_out(model)
    seed = config.training.seed
    starts, targets = draw_batch(make_task(config), seed, 0, 5, Purpose.HELD_OUT_START)
    masks = draw_masks(seed, 0, 5, 6, 6, 7, config.automaton.fire_rate, Purpose.HELD_OUT_MASK)
    wrong = {3: 0, 6: 0}
    for sample, start in enumerate(starts):
        mask = None if masks is None else masks[sample]
        states = oracle.rollout(model.netlist, gates.one_hot(model.ops), start, 6, "zero", mask)
        for step in wrong:
            wrong[step] += int((states[step][[1, 0]] != targets[sample]).sum())
    assert (scores["step"], scores["later_step"]) == (3, 6)
    assert (scores["wrong_cells"], scores["wrong_cells_later"]) == (wrong[3], wrong[6])
    assert scores["starts"] == 5
    assert scores["cells"] == 5 * 2 * 6 * 7
    assert scores["exact"] is False
    assert scores["active_gates"] > 0


def test_starts_in_several_turns_count_the_same(monkeypatch):
    model = random_model(tiny("automaton.fire_rate=0.6"))
    at_once = held_out(model)
    monkeypatch.setattr(trial, "VALUES_AT_ONCE", 2 * 2 * 6 * 7)
    assert held_out(model) == at_once
    monkeypatch.setattr(trial, "VALUES_AT_ONCE", 1)
    assert held_out(model) == at_once


def test_an_exact_circuit():
    # A square as large as the grid is a target of zeros.
    config = tiny("task.height=6", "task.width=6", "task.square=6")
    model = Model.create(config)
    model.logits[:, Op.FALSE] = 20.0
    scores = held_out(model)
    assert scores["wrong_cells"] == scores["wrong_cells_later"] == 0
    assert scores["exact"] is True
    model.logits[:, Op.TRUE] = 30.0
    scores = held_out(model)
    assert scores["wrong_cells"] == scores["cells"] == 5 * 36
    assert scores["exact"] is False
