"""Samples that start from later states of the hard circuit's rollout."""

import numpy as np
import pytest

from difflogic.circuit.gates import one_hot
from difflogic.circuit.grid import Grid
from difflogic.engine import oracle
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.tasks import make_task
from difflogic.training.pool import draw_pool, pool_steps
from tests.difflogic.evaluation.naive import random_model
from tests.difflogic.training.tiny import growing, resumed

POOL = ("task.hold=true", "pool.batch=3", "pool.later=7", "pool.steps=4")


def simulator_of(config, model):
    grid = Grid(config.task.height, config.task.width, config.automaton.boundary)
    simulator = HardSimulator(model.netlist, grid, 1)
    simulator.load(model.ops)
    return lambda start, steps: simulator.rollout(start[None], steps)[0]


def samples_of(config, model, epochs=range(40)):
    problem = config.problem
    run = simulator_of(config, model)
    return [sample for epoch in epochs for sample in draw_pool(problem, epoch, run)]


def test_states_come_from_the_rollout_after_the_training_step():
    config = growing(*POOL)
    model = random_model(config, 3)
    task = make_task(config)
    run = oracle.rollout(
        model.netlist, one_hot(model.ops), task.start_state, 10, config.automaton.boundary
    )
    known = {state.astype(np.uint8).tobytes() for state in run[3:]}
    samples = samples_of(config, model)
    assert {sample.start.tobytes() for sample in samples} == known
    assert {sample.step for sample in samples} == {1, 2, 3, 4}
    assert pool_steps(config.problem) == 4


def test_damaged_samples_take_longer():
    config = growing(*POOL, "task.heal=[2]")
    samples = samples_of(config, random_model(config, 3))
    assert {sample.step for sample in samples} == set(range(1, 8))
    assert pool_steps(config.problem) == 7
    # Undamaged states come again and again, damaged ones in all places.
    assert len({sample.start.tobytes() for sample in samples}) > 20


@pytest.mark.parametrize("tries", [1, 64])
def test_damage_that_does_not_grow_back_is_preferred(tries):
    config = growing(*POOL, "task.heal=[2]", f"pool.damage_tries={tries}")
    whole = np.ones((4, 5, 5), np.uint8)
    (places,) = make_task(config).patches.values()
    stubborn = [(whole * (1 - place)).tobytes() for place in places[:2]]
    channels = list(config.task.loss_channels)
    target = make_task(config).target
    calls = []

    def heal(start, steps):
        """Return a whole state from the start, and the target from all but two damages."""
        if start.all() or start.sum() == 4:
            return whole
        calls.append(steps)
        state = whole.copy()
        state[channels] = target if start.tobytes() not in stubborn else 1 - target
        return state

    problem = config.problem
    samples = [sample for epoch in range(60) for sample in draw_pool(problem, epoch, heal)]
    damaged = [sample.start.tobytes() for sample in samples if not sample.start.all()]
    assert len(damaged) > 50
    found = sum(start in stubborn for start in damaged)
    assert found == len(damaged) if tries > 1 else found < len(damaged) / 2
    # It is compared when it should have grown back.
    assert set(calls) == (set(range(4, 8)) if tries > 1 else set())


def test_a_resumed_run_uses_the_same_states():
    config = growing(*POOL, "task.heal=[2]", "finishing.every=0")
    resumed(config, 3, 7)
