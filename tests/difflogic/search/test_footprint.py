"""The planned bytes of a search are enough for the arrays that it allocates, and not far more."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.engine.hard.candidates import MOST_BYTES
from difflogic.engine.hardware import Hardware
from difflogic.engine.soft.rollout import Engine
from difflogic.evaluation.judge import Judge
from difflogic.experiment.device_plan import plan_of
from difflogic.model.model import Model
from difflogic.search.changes import Changes
from difflogic.search.finisher import SearchContext
from difflogic.search.rectification import Rectifier
from difflogic.search.searches import search_for
from tests.difflogic.training.tiny import growing, tiny


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


@pytest.mark.parametrize(
    ("config", "starts"),
    [
        (tiny("finishing.every=1", "finishing.rectify=9"), 64),
        (tiny("finishing.every=1", "automaton.fire_rate=0.6", "automaton.boundary=periodic"), 64),
        (growing("task.hold=true", "task.heal=[2,3]"), 51),
        (growing("task.hold=true"), 1),
        (growing(), 1),
        (growing("finishing.rectify=9", "task.hold=true"), 1),
        (load_config("game-of-life-small", ["finishing.every=1"]), 512),
    ],
)
def test_a_search(config, starts):
    """All its buffers, with the most starts that it may face."""
    model = Model.create(config)
    plan = plan_of(config, replace(Hardware.here(), cores=2), model.netlist)
    rollouts = plan.rollouts
    engine = Engine(model.netlist, rollouts.grid, rollouts.steps, plan.wave, sharing=plan.sharing)
    with engine:
        finisher = search_for(SearchContext(model, config.problem, 1, None, Judge, None))
        trial = finisher.trial(range(starts))
        candidates = Changes(trial, model.ops)._candidates
        assert candidates is not None
        found = [finisher._sensitivity._hard, finisher._fresh, trial._blocks, candidates]
        if finisher._rectifies:
            rectifier = Rectifier(model.netlist, finisher._scene, finisher.first_samples)
            gates = np.arange(model.netlist.gates)
            traced = rectifier._trace(model.ops, np.arange(model.netlist.rows), gates)
            found += [rectifier._hard, traced]
        allocated = bytes_of([model.netlist, *found]) - bytes_of(model.netlist)
        base = candidates._base
        scratch = candidates._scratch
        values = [candidates._history.values, base.free, scratch.values, scratch.flags]
        known = sum(bytes_of(each) for each in values)
    assert 0 < known < MOST_BYTES
    assert 0 < allocated - known <= plan.search_bytes < 2 * (allocated - known) + 10**6
    assert plan.bytes_shared >= plan.search_bytes


def test_no_search_takes_no_memory():
    assert plan_of(tiny("finishing.every=0")).search_bytes == 0
