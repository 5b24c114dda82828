"""Predictions: a training step replayed with given costs, on other workers and machines."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.engine.hardware import Machine
from difflogic.model.model import Model
from difflogic.scale.speed.prediction import (
    BANDWIDTH,
    STRATEGIES,
    StepCosts,
    barriers_of,
    counts_between,
    lanes_of,
    measure_costs,
    network,
    replay,
    simulate,
    with_strategy,
)
from difflogic.training.plan import ParallelPlan
from tests.difflogic.training.tiny import tiny

FREE = StepCosts({}, 1.0, 2.0, 0.0, 0.0)
MACHINE = Machine(cores=64, l2=2**21)
LIZARD, SMALL = load_config("lizard"), load_config("checkerboard-small")
NETLISTS = {config.name: Model.create(config).netlist for config in (LIZARD, SMALL)}

CONFIG = tiny("training.batch=1", "parallel.lanes=16")
PLAN = ParallelPlan.for_model(CONFIG, Machine(cores=8))
COSTS = StepCosts({"hard": 1.0}, 1.0, 2.0, 0.0, 0.0)


def plan_of(config, **training):
    changed = config.with_sections(training=training)
    return ParallelPlan.for_model(changed, MACHINE, NETLISTS[config.name])


def speedup(plan):
    return replay(plan.at(1), FREE) / replay(plan, FREE)


def test_one_worker_takes_the_sum_of_all_costs():
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
        assert 0.99 <= speedup(plan) <= plan.ceiling() + 1e-9
        if strategy not in ("cells", "steps"):  # the ceiling ignores their waiting
            assert speedup(plan) >= 0.75 * plan.ceiling()  # Graham 1969, in any order


def test_a_pipeline_waits_only_for_neighbouring_cells():
    plan = with_strategy(plan_of(LIZARD), "steps", 2)
    # Two workers, thirteen tiles, the last of half width: only the end is uneven.
    assert speedup(with_strategy(plan, "cells", 2)) < speedup(plan) <= 2
    # With as many workers as chunks, each does its own chunk in every step.
    many = with_strategy(plan_of(LIZARD), "steps", 13)
    assert replay(many, FREE) == pytest.approx(3 * 12 * 32)


def test_waiting_costs_time():
    plan = with_strategy(plan_of(LIZARD), "cells", 2)
    dear = replace(FREE, barrier=10.0, wake=3.0)
    # Three barriers per training step, and one per automaton step, forward and backward.
    assert replay(plan, dear) - replay(plan, FREE) == pytest.approx(3 + 10 * (3 + 2 * 12))


def test_workers_that_share_gates_wait_for_each_other():
    forward, backward = barriers = barriers_of(Model.create(CONFIG).netlist)
    assert backward > forward > 2
    dear = StepCosts({}, 1.0, 2.0, 1.0, 0.0)
    plan = with_strategy(PLAN, "gates", 6)
    assert plan.parts == 2
    more = replay(plan, dear, barriers) - replay(plan, dear)
    # Each of three teams has one tile in each of three steps, forward and backward.
    assert more == pytest.approx(3 * (forward + backward))


def test_costs_are_measured():
    heard = []
    costs = measure_costs(tiny("finishing.every=1"), repeat=2, progress=heard.append)
    assert heard == [1, 2]
    assert min(costs.forward, costs.backward, costs.barrier, costs.wake) > 0
    assert {"sample", "reduce", "hard", "optimizer", "loss"} <= set(costs.serial)
    assert "finish" not in costs.serial


@pytest.mark.parametrize(
    ("ends", "counts"), [((1, 8), [1, 2, 3, 4, 6, 8]), ((5, 10), [1, 5, 6, 8, 10]), ((1, 1), [1])]
)
def test_worker_counts(ends, counts):
    assert counts_between(*ends) == counts


def test_curves_of_all_strategies():
    found = simulate(CONFIG, PLAN, COSTS, [1, 2, 4, 6])
    assert tuple(found.seconds) == STRATEGIES
    assert {seconds[1] for seconds in found.seconds.values()} == {replay(PLAN.at(1), COSTS)}
    assert all(found.speedup(name, 1) == 1 for name in STRATEGIES)
    # One sample is not shared; its three tiles are shared by at most three workers.
    assert found.speedup("samples", 4) == 1
    assert 1 < found.speedup("cells", 2) < found.speedup("cells", 4) <= 3
    # The number of tiles does not limit shared gates.
    assert found.speedup("gates", 6) > found.speedup("cells", 6) > 2
    assert not found.measured
    assert not found.errors


@pytest.mark.thorough
def test_a_simulation_is_compared_with_measurements():
    heard = []
    found = simulate(CONFIG, PLAN, COSTS, [1, 2], repeat=1, progress=heard.append)
    assert heard == [1]
    assert set(found.measured) == set(found.errors) == {1, 2}
    assert found.errors[1] == found.planned[1] / found.measured[1] - 1
    assert list(found.as_dict()["measured"]) == ["1", "2"]


def in_network(ranks, *overrides):
    """Return the prediction for machines of one core."""
    costs = StepCosts({"sample": 0.001}, forward=1e-6, backward=3e-6, barrier=0.0, wake=0.0)
    return network(tiny(*overrides), costs, ranks, Machine.parse("cores=1,memory=1GB"))


def test_two_machines_halve_the_shared_work():
    found = in_network(2, "training.batch=4")
    rollout = 4e-6 * 42 * 3  # cells of a sample, times steps
    # Lanes are filled up.
    assert found.on_one_machine == pytest.approx(0.001 + 4 * rollout, rel=0.2)
    assert found.saved == pytest.approx((found.on_one_machine - 0.001) / 2)
    # Announced, collected, and broadcast.
    assert (found.messages, found.large_messages) == (3, 2)
    assert found.bytes_per_large_message == 4 * 4 * 42 + 8 * 4
    assert found.transfer == 2 * found.bytes_per_large_message / BANDWIDTH
    assert found.latency == (found.saved - found.transfer) / 3
    assert found.as_dict()["latency"] == found.latency


@pytest.mark.parametrize(
    ("ranks", "pool", "messages", "large"),
    [(3, 0, 6, 4), (4, 0, 7, 5), (8, 0, 13, 10), (2, 33, 1 + 3 * 2, 3 * 2)],
)
def test_messages_grow_with_machines_and_pool(ranks, pool, messages, large):
    found = in_network(ranks, "training.batch=8", f"pool.batch={pool}")
    assert (found.messages, found.large_messages) == (messages, large)


def test_one_sample_is_not_shared():
    found = in_network(2, "training.batch=1")
    assert found.saved == 0
    assert found.latency is None
