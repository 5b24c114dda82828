"""The planned bytes of a search agree with the allocated ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.config import load_config
from difflogic.engine.hard_gradients import HardGradients
from difflogic.engine.hardware import Machine
from difflogic.engine.layout import Grid
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.rollout import Engine
from difflogic.engine.search_buffers import LATER, SearchBuffers, Trials
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Trial
from difflogic.model.model import Model
from difflogic.search.rectifying import Rectifier
from difflogic.search.search import Changes
from difflogic.training.attempt import Attempt
from tests.difflogic.training.tiny import growing, tiny

NETLIST = flatten(
    wire(
        Architecture(channels=3, kernels=2, perception=(8, 4, 2), update=(16, 16, 8, 6, 3)),
        np.random.default_rng(0),
    )
)


def engine_for(model, plan):
    rollouts = plan.rollouts
    return Engine(model.netlist, rollouts.grid, rollouts.steps, plan.wave, sharing=plan.sharing)


def bytes_of(thing, seen=None):
    """Bytes of all arrays that an object holds, each counted once."""
    seen = set() if seen is None else seen
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        if id(thing) in seen:
            return 0
        seen.add(id(thing))
        return thing.nbytes
    if isinstance(thing, (tuple, list)):
        return sum(bytes_of(each, seen) for each in thing)
    if type(thing).__module__.startswith("difflogic."):
        return bytes_of(list(vars(thing).values()), seen)
    return 0


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["zero", "periodic"]),
    st.integers(1, 9),
    st.integers(1, 5),
)
@settings(max_examples=40)
def test_gradients(height, width, boundary, steps, samples):
    grid = Grid(height, width, boundary)
    hard = HardGradients(NETLIST, grid, steps, samples)
    allocated = bytes_of(hard) - bytes_of(NETLIST)
    planned = SearchBuffers(NETLIST, grid, 1, 1, Trials(1, 1))._gradients(steps, samples)
    # Small grids need fewer shifts.
    slack = 2000 + 25 * 8 * (2 + -(-grid.cells * samples // 512) * 8)
    assert 0 <= planned - allocated < slack


@pytest.mark.parametrize(
    ("config", "compared"),
    [
        (tiny("finishing.every=1"), 64),
        (tiny("finishing.every=1", "automaton.fire_rate=0.6", "automaton.boundary=periodic"), 64),
        (growing("task.hold=true", "task.heal=[2,3]"), 51),
        (growing("task.hold=true"), 1),
        (growing(), 1),
        (growing("finishing.rectify=9", "task.hold=true"), 1),
        (load_config("game-of-life-small", ["finishing.every=1"]), 512),
    ],
    ids=[
        "checkerboard",
        "asynchronous",
        "healing",
        "holding",
        "growing",
        "rectifying",
        "all cases",
    ],
)
def test_a_search(config, compared):
    """All its buffers, with the most starts that it may face and two workers."""
    model = Model.create(config)
    plan = ParallelPlan.for_model(config, replace(Machine.here(), cores=2), model.netlist)
    planned = plan.search
    assert planned is not None
    assert planned.compared.starts == compared
    with Attempt(config, 0, model, plan, engine_for(model, plan)) as attempt:
        finisher = attempt.finisher
        assert finisher is not None
        trial = finisher.trial(range(compared))
        changes = Changes(trial, Workers(2), model.ops)
        candidates = changes._candidates
        assert candidates is not None
        (helper,) = candidates._helpers
        assert helper._follow(model.ops)
        found = [finisher._sensitivity._hard, finisher._fresh, trial._blocks, candidates]
        if finisher._rectifies:
            rectifier = Rectifier(model.netlist, finisher._scene, finisher._first_samples)
            gates = np.arange(model.netlist.gates) + model.netlist.inputs
            traced = rectifier._trace(model.ops, np.arange(model.netlist.rows), gates)
            found += [rectifier._hard, traced]
        allocated = bytes_of([model.netlist, *found]) - bytes_of(model.netlist)
        bases = candidates._base, helper._base
        values = [part for each in bases for part in (each._history.values, each._base.free)]
        values += [part for each in bases for part in (each._scratch.values, each._scratch.flags)]
        known = sum(bytes_of(each) for each in values)
    planned = replace(planned, search_workers=2)
    assert 0 < allocated - known <= planned.bytes < 1.25 * (allocated - known) + 20_000
    assert 0 < known <= planned.values
    assert plan.bytes_shared >= planned.bytes


@pytest.mark.parametrize("rectifies", [False, True])
def test_a_search_at_later_steps(rectifies):
    """A circuit that is right until the last later step takes the additional bytes."""
    config = growing("task.hold=true", f"finishing.rectify={9 * rectifies}")
    model = Model.create(config)
    planned = ParallelPlan.for_model(config, Machine.here(), model.netlist).search
    assert planned is not None
    assert planned.compared.steps == 10
    last = LATER * 10 - 1
    plan = ParallelPlan.for_model(config)
    with Attempt(config, 0, model, plan, engine_for(model, plan)) as attempt:
        finisher = attempt.finisher
        assert finisher is not None
        taken = []
        for scene in (finisher._scene, finisher._scene.until(last)):
            trial = Trial(model.netlist, scene, (0,))
            candidates = Changes(trial, Workers(1), model.ops)._candidates
            assert candidates is not None
            found = [trial._blocks, candidates]
            if rectifies:
                rectifier = Rectifier(model.netlist, scene, (0,))
                gates = np.arange(model.netlist.gates) + model.netlist.inputs
                found.append(rectifier._hard)
                found.append(rectifier._trace(model.ops, np.arange(model.netlist.rows), gates))
            taken.append(bytes_of([model.netlist, *found]))
    assert 0 < taken[1] - taken[0] <= planned.later_bytes
