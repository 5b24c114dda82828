"""The gradient's predictions, against real changes and the oracle."""

import numpy as np

from difflogic.circuit import gates
from difflogic.config import load_config
from difflogic.engine import oracle
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.trial import Trial
from difflogic.search import footprint
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.system.streams import Purpose
from difflogic.tasks import draw_batch, make_task
from tests.difflogic.circuit.masks import draw_masks
from tests.difflogic.evaluation.naive import random_model
from tests.difflogic.training.tiny import tiny

STREAMS = Streams(5, Purpose.CHECK_START, Purpose.CHECK_MASK)


def predict(netlist, config, ops, samples):
    plan = Plan.of(config.problem.task, 64, STREAMS)
    found = GradientSensitivity(netlist, plan, config.automaton.steps)(ops, samples)
    assert found.shape == (netlist.parameters, gates.OPS)
    return found


def test_the_prediction_is_the_oracles_gradient():
    """Over several steps and with shared logits."""
    config = tiny("automaton.fire_rate=0.6", "automaton.steps=3", "task.loss_channels=[1,0]")
    model = random_model(config)
    samples = (8, 2, 3, 2**40)
    netlist = model.netlist
    ops = model.ops
    gradient = np.zeros((netlist.parameters, 4))
    for sample in samples:
        starts, targets = draw_batch(make_task(config), STREAMS.seed, 0, 1, STREAMS.start, sample)
        mask = draw_masks(STREAMS.seed, 0, 1, 3, 6, 7, 0.6, STREAMS.mask, sample)[0]
        states = oracle.rollout(netlist, gates.one_hot(ops), starts[0], 3, "zero", mask)
        slope = np.zeros_like(states[-1])
        slope[[1, 0]] = np.where(targets[0] == 1, -1, 1)
        gradient += oracle.coefficient_gradients(
            netlist, gates.one_hot(ops), states, slope, "zero", mask
        )
    by_op = np.einsum("pc,oc->po", gradient, gates.COEFFICIENTS)
    expected = by_op - by_op[np.arange(len(ops)), ops][:, None]
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(predict(netlist, config, ops, samples), expected, atol=1e-9)


def test_the_prediction_is_exact_for_all_cases_of_the_game_of_life():
    """Its targets have an unsigned type."""
    config = load_config("game-of-life", ["training.seed=3"])
    model = random_model(config, 14)
    plan = Plan.of(config.problem.task, 1, STREAMS)
    samples = range(0, plan.starts, 37)
    found = GradientSensitivity(model.netlist, plan, 1)(model.ops, tuple(samples))
    trial = Trial(model.netlist, plan.scene, samples)
    before = trial(model.ops).sum()
    last = model.netlist.param[model.netlist.outputs[0] - model.netlist.inputs]
    for op in range(gates.OPS):
        changed = model.ops.copy()
        changed[last] = op  # read once, by no other gate
        assert trial(changed).sum() - before == found[last, op]
    assert len(np.unique(found[last])) > 2


def test_only_the_first_of_many_samples_count(monkeypatch):
    """They are those with the most wrong cells."""
    monkeypatch.setattr(footprint, "SEARCH_CELLS", 100)  # two grids of 42 cells
    config = tiny()
    model = random_model(config)
    found = predict(model.netlist, config, model.ops, (7, 3, 5, 1))
    np.testing.assert_array_equal(found, predict(model.netlist, config, model.ops, (7, 3)))
    one = predict(model.netlist, config, model.ops, (7,))
    other = predict(model.netlist, config, model.ops, (3,))
    np.testing.assert_allclose(found, one + other, atol=1e-9)
    assert (found != one).any()
