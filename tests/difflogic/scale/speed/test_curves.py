"""Speed-up over workers, simulated and drawn."""

import pytest

from difflogic.engine.hardware import Machine
from difflogic.engine.plan import ParallelPlan
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.curves import STRATEGIES, Curves, counts_between, simulate, text_curves
from difflogic.scale.speed.replay import Meetings, replay, with_strategy
from tests.difflogic.training.tiny import tiny

CONFIG = tiny("training.batch=1", "parallel.lanes=16")
COSTS = StepCosts({"hard": 1.0}, 1.0, 2.0, 0.0, 0.0)
PLAN = ParallelPlan.for_model(CONFIG, Machine(cores=8))


def test_worker_counts():
    assert counts_between(1, 8) == [1, 2, 3, 4, 6, 8]
    assert counts_between(5, 10) == [1, 5, 6, 8, 10]
    assert counts_between(1, 1) == [1]


def test_curves_of_all_strategies():
    found = simulate(CONFIG, PLAN, COSTS, [1, 2, 4, 6])
    assert tuple(found.seconds) == STRATEGIES
    assert found.alone == replay(PLAN.at(1), COSTS)
    assert all(found.speedup(name, 1) == 1 for name in STRATEGIES)
    # One sample is nobody's but one worker's; three tiles of cells are shared by three at most.
    assert found.speedup("samples", 4) == 1
    assert 1 < found.speedup("cells", 2) < found.speedup("cells", 4) <= 3
    # Shared gates know no bound of tiles.
    assert found.speedup("gates", 6) > found.speedup("cells", 6) > 2
    assert not found.measured
    assert not found.errors


def test_shared_gates_wait_for_each_other():
    meetings = Meetings.of(Model.create(CONFIG).netlist)
    assert meetings.backward > meetings.forward > 2
    dear = StepCosts({}, 1.0, 2.0, 1.0, 0.0)
    plan = with_strategy(PLAN, "gates", 6)
    assert plan.parts == 2
    more = replay(plan, dear, meetings) - replay(plan, dear)
    # Each of three teams has one tile in each of three steps, each way.
    assert more == pytest.approx(3 * (meetings.forward + meetings.backward))


@pytest.mark.thorough
def test_what_is_simulated_is_held_against_what_is_measured():
    heard = []
    found = simulate(CONFIG, PLAN, COSTS, [1, 2], repeat=1, progress=heard.append)
    assert heard == [1]
    assert set(found.measured) == set(found.errors) == {1, 2}
    assert found.errors[1] == found.alone / found.measured[1] - 1
    assert list(found.as_dict()["measured"]) == ["1", "2"]


def test_text():
    seconds = {name: {1: 8.0, 2: 4.0, 4: 3.0} for name in STRATEGIES}
    curves = Curves(CONFIG, seconds, 8.0, {1: 8.0, 2: 4.0}, {1: 8.0, 2: 4.4})
    lines = text_curves(curves, 20)
    assert lines[0].split() == ["workers", *STRATEGIES]
    assert lines[3].split() == ["4", *["2.67×"] * 4, 20 * "#"]
