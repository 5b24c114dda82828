"""The task graph of a step, replayed."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.engine.hardware import Machine
from difflogic.engine.plan import ParallelPlan
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts, lanes_of, measure_costs
from difflogic.scale.speed.replay import STRATEGIES, replay, with_strategy
from tests.difflogic.training.tiny import tiny

FREE = StepCosts({}, 1.0, 2.0, 0.0, 0.0)
MACHINE = Machine(cores=64, l2=2**21)
LIZARD = load_config("lizard")
SMALL = load_config("checkerboard-small")
NETLISTS = {config.name: Model.create(config).netlist for config in (LIZARD, SMALL)}


def plan_of(config, **training):
    changed = config.training.model_copy(update=training)
    config = config.model_copy(update={"training": changed})
    return ParallelPlan.for_model(config, MACHINE, NETLISTS[config.name])


def test_one_worker_does_all_after_each_other():
    plan = plan_of(SMALL)
    costs = replace(FREE, serial={"sample": 5.0, "hard": 7.0}, wake=100.0, barrier=100.0)
    lanes = lanes_of(plan)
    assert lanes == 2 * 20 * 256
    assert replay(plan.at(1), costs) == pytest.approx(12 + 3 * lanes)


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=5)
@given(workers=st.integers(1, 40), batch=st.integers(1, 9))
def test_no_schedule_beats_the_ceiling(strategy, workers, batch):
    for config in (LIZARD, SMALL):
        plan = with_strategy(plan_of(config, batch=batch), strategy, workers)
        alone = replay(plan.at(1), FREE)
        speedup = alone / replay(plan, FREE)
        assert 0.99 <= speedup <= plan.ceiling() + 1e-9
        if strategy not in ("cells", "steps"):  # whose waits no ceiling counts
            assert speedup >= 0.75 * plan.ceiling()  # Graham 1969, in whatever order


def test_a_pipeline_waits_for_the_cells_around_and_nothing_else():
    plan = with_strategy(plan_of(LIZARD), "steps", 2)
    # Thirteen tiles, of which the last is half as wide, on two workers: only the end is uneven.
    speedup = replay(plan.at(1), FREE) / replay(plan, FREE)
    cells = with_strategy(plan, "cells", 2)
    assert replay(cells.at(1), FREE) / replay(cells, FREE) < speedup <= 2
    # With as many workers as chunks, each does its own, step by step.
    many = with_strategy(plan_of(LIZARD), "steps", 13)
    assert replay(many, FREE) == pytest.approx(3 * 12 * 32)


def test_waiting_costs():
    plan = with_strategy(plan_of(LIZARD), "cells", 2)
    dear = replace(FREE, barrier=10.0, wake=3.0)
    # Three barriers of a step, and one for each automaton step, forward and back.
    assert replay(plan, dear) - replay(plan, FREE) == pytest.approx(3 + 10 * (3 + 2 * 12))


def test_costs_are_measured():
    heard = []
    costs = measure_costs(tiny("finishing.every=1"), repeat=2, progress=heard.append)
    assert heard == [1, 2]
    assert min(costs.forward, costs.backward, costs.barrier, costs.wake) > 0
    assert {"sample", "reduce", "hard", "optimizer", "loss"} <= set(costs.serial)
    assert "finish" not in costs.serial
