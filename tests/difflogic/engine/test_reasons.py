"""Why a plan is as it is."""

from itertools import product

import pytest

from difflogic.engine.hardware import Machine
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.reasons import explain
from difflogic.model.model import Model
from tests.difflogic.training.tiny import tiny

NETLIST = Model.create(tiny()).netlist
WHATS = ["lanes", "chunks", "groups", "workers", "strategy", "tasks", "waves", "memory"]


def reasons(*overrides, machine=None):
    config = tiny(*overrides)
    plan = ParallelPlan.for_model(config, machine or Machine(cores=4, memory=10**9), NETLIST)
    return {each.what: (each.value, each.why) for each in explain(config, plan)}


@pytest.mark.parametrize("strategy", ["auto", "sequential", "samples", "cells", "steps", "gates"])
def test_every_decision_has_a_value_and_a_reason(strategy):
    for workers, batch in product(("auto", "1", "3"), ("1", "5")):
        found = reasons(
            f"parallel.strategy={strategy}",
            f"parallel.workers={workers}",
            f"training.batch={batch}",
            machine=Machine(cores=4, memory=None),
        )
        assert list(found) == WHATS
        assert all(value and why for value, why in found.values())


def test_reasons_name_what_was_asked_for():
    found = reasons("parallel.lanes=16", "parallel.chunk=2", "parallel.workers=2")
    assert found["lanes"][0] == "16"
    assert found["lanes"][1].startswith("[parallel] lanes")
    assert found["chunks"] == ("2 of 2 tiles", "[parallel] chunk")
    assert found["workers"] == ("2", "[parallel] workers")
    assert found["strategy"][0] == "samples"
    two = ParallelPlan.for_model(tiny("training.batch=2"), Machine(cores=4), NETLIST)
    room = f"parallel.memory_budget={two.bytes}B"
    one = reasons("training.batch=9", room, "parallel.workers=1")
    assert one["waves"] == ("5", "2 samples in flight: as many as the memory holds")
    assert one["strategy"] == ("sequential", "one worker does it all")
    off = reasons("parallel.strategy=sequential", "parallel.workers=3")
    assert off["workers"] == ("1", "[parallel] strategy")
    assert off["strategy"] == ("sequential", "[parallel] strategy")


def test_reasons_name_what_bounds_the_workers():
    assert reasons("parallel.workers=auto")["workers"] == ("1", "a step too short to wake more for")
    few = reasons("parallel.workers=auto", machine=Machine(cores=1))
    assert few["workers"] == ("1", "1 core")
    whole = ParallelPlan.for_model(tiny("parallel.workers=3"), Machine(cores=4), NETLIST)
    budget = whole.at(2).bytes
    found = reasons("parallel.workers=3", f"parallel.memory_budget={budget}B")
    assert found["workers"][1] in ("[parallel] workers", "as many as the memory holds")
    assert found["memory"][1].endswith("[parallel] memory_budget")
    assert "no limit is known" in reasons(machine=Machine(cores=1))["memory"][1]
