"""Plans for a configuration and a machine, their limits, and the reasons they give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.engine.hardware import Hardware
from difflogic.engine.soft.layout import samples_per_group
from difflogic.experiment.device_plan import plan_of as plan_of_config
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.system.arrays import PAGE
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import parse_bytes
from difflogic.system.strategy import STRATEGIES
from tests.difflogic.training.tiny import tiny

MACHINE = Hardware(cores=4, memory=10**10)
NETLIST = Model.create(tiny()).netlist


def plan_of(*overrides, machine=MACHINE):
    return plan_of_config(tiny(*overrides), machine, NETLIST)


@st.composite
def configurations(draw):
    """Overrides of a tiny configuration by key, all with the same circuit."""
    return {
        "task.height": draw(st.integers(2, 20)),
        "task.width": draw(st.integers(2, 20)),
        "training.batch": draw(st.integers(1, 40)),
        "training.later_steps": draw(st.sampled_from([0, 2])),
        "automaton.steps": draw(st.integers(1, 9)),
        "automaton.fire_rate": draw(st.sampled_from([1.0, 0.5])),
        "finishing.every": draw(st.sampled_from([0, 10])),
        "parallel.workers": draw(st.sampled_from(["auto", 1, 2, 3, 7])),
        "parallel.strategy": draw(st.sampled_from(STRATEGIES)),
    }


machines = st.builds(
    Hardware, cores=st.integers(1, 128), memory=st.none() | st.integers(10**8, 10**12)
)


def texts(overrides):
    return [f"{key}={value}" for key, value in overrides.items()]


def least_of(*overrides, machine=MACHINE):
    """Return the least budget, from the message that refuses a smaller one."""
    with pytest.raises(ConfigError, match="give at least") as refused:
        plan_of(*overrides, "parallel.memory_budget=1kB", machine=machine)
    return str(refused.value).split('give at least "')[1].split('"')[0]


@settings(max_examples=12)
@given(configurations(), machines)
def test_every_cell_is_in_one_chunk(overrides, machine):
    plan = plan_of(*texts(overrides), machine=machine)
    layout = plan.layout
    seen = np.zeros(plan.samples_per_group * plan.rollouts.grid.cells, int)
    for first, end in zip(layout.chunk_start, layout.chunk_start[1:], strict=False):
        for tile in range(first, end):
            start = layout.tile_start[tile]
            seen[start : start + layout.tile_lanes[tile]] += 1
    assert (seen == 1).all()
    assert plan.tiles == layout.tile_lanes.tolist()
    assert len(plan.chunks) == len(layout.chunk_start) - 1
    assert sum(plan.chunks) == sum(plan.tiles)


@settings(max_examples=12)
@given(configurations(), machines, st.floats(0, 1))
def test_buffers_stay_within_the_budget(overrides, machine, share):
    whole = plan_of(*texts(overrides), machine=machine)
    assert whole.bytes <= (whole.budget or whole.bytes)
    least = parse_bytes(least_of(*texts(overrides), machine=machine))
    assume(least < whole.bytes)
    budget = int(least + share * (whole.bytes - least))
    plan = plan_of(*texts(overrides), f"parallel.memory_budget={budget}B", machine=machine)
    assert plan.bytes <= budget
    assert plan.workers <= whole.workers
    assert plan.wave <= whole.wave
    group = samples_per_group(plan.rollouts.grid)
    assert plan.wave % group == 0 or plan.wave == plan.batch
    more = plan_of(*texts(overrides), f"parallel.memory_budget={budget + 1000}B", machine=machine)
    assert more.wave >= plan.wave or more.workers > plan.workers


@settings(max_examples=6)
@given(configurations())
def test_the_planned_bytes_are_allocated(overrides):
    overrides |= {"finishing.every": 0}
    config = tiny(*texts(overrides))
    with Trainer(config) as trainer:
        trainer.step()
        engine = trainer.descent.engine
        plan = trainer.descent.plan
        batch = engine._batch
        assert engine._control.nbytes == plan.control.bytes - PAGE
        for space in engine._workspaces:
            padded = sum(buffer.nbytes + PAGE for buffer in space)
            assert plan.bytes_per_worker == padded
            # No load of a value waits for the store of a gradient: they differ in their low bits.
            assert len({buffer.ctypes.data % PAGE for buffer in space[:4]}) == 4
        # The later step is drawn at random, and may be missing.
        later = 0 if not config.training.later_steps else batch.loss_gradients[:, :1].nbytes
        shared = [*batch[:4], batch.loss_gradients, batch.input_gradients, batch.sums]
        shared = sum(buffer.nbytes for buffer in (*shared, engine._control))
        assert 0 <= plan.bytes_shared - shared <= 8 * PAGE + later
        assert plan.team == engine.plan.team


def test_an_impossible_budget_names_the_least_possible_one():
    with pytest.raises(ConfigError, match=r"\[parallel\] memory_budget \"1kB\": .* at least \"0\."):
        plan_of("parallel.memory_budget=1kB")
    assert plan_of(f"parallel.memory_budget={least_of()}").workers == 1
    with pytest.raises(ConfigError, match=r"and 1\.00 kB are available: lower \[task\] height"):
        plan_of(machine=replace(MACHINE, memory=1000))


def test_a_grid_far_too_large_is_refused_before_it_is_cut(monkeypatch):
    monkeypatch.setattr("difflogic.engine.soft.arrangement.tile_lanes", pytest.fail)
    with pytest.raises(ConfigError, match=r"of 65536×65536 cells .* and 10\.0 GB are available"):
        plan_of("task.height=65536", "task.width=65536")


def test_available_memory_is_not_exceeded():
    free = plan_of("training.batch=40", machine=replace(MACHINE, memory=None))
    assert free.budget is None
    small = plan_of("training.batch=40", machine=replace(MACHINE, memory=free.bytes))
    assert small.bytes <= 0.9 * free.bytes
    assert small.wave < free.wave == 40


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "recipe", "cores", "workers", "strategies", "tasks"),
    [
        # The benchmark recipe has two samples, the default one.
        ("checkerboard", "benchmark", 2, 2, ["samples"], 2),
        ("checkerboard", "benchmark", 64, 8, ["steps"], 8),
        ("checkerboard", None, 2, 2, ["steps"], 4),
        ("checkerboard", None, 1, 1, [], 1),
        # Waking a worker takes longer than the step.
        ("game-of-life", None, 64, 1, [], 3),
        ("letter-g", None, 2, 2, ["steps"], 4),
        # Six tiles of 64 cells and one of 16.
        ("lizard", None, 2, 2, ["steps"], 7),
    ],
)
def test_plans_of_the_experiments(name, recipe, cores, workers, strategies, tasks):
    machine = Hardware(cores=cores, memory=10**11)
    plan = plan_of_config(load_config(name, recipe=recipe), machine)
    assert plan.workers == workers
    assert list(plan.strategies) == strategies
    assert plan.tasks == tasks
    assert not plan.warnings


def test_too_many_workers_give_warnings():
    plan = plan_of("parallel.workers=7", "training.batch=2")
    assert plan.workers == 7
    assert plan.tasks == 4
    assert plan.warnings == [
        "7 workers for 4 tasks: 3 of them only wait",
        "7 workers on 4 cores: they wait for each other, and a waiting worker may keep another "
        "from working",
    ]


LONG = ("task.height=60", "task.width=60", "training.batch=40")
"""A step that is long enough for four workers."""


@pytest.mark.parametrize("fitting", [1, 2, 4])
@pytest.mark.parametrize("strategy", ["auto", "samples", "cells"])
@pytest.mark.parametrize("workers", ["4", "auto"])
def test_the_memory_bounds_the_workers(workers, strategy, fitting):
    given = (*LONG, f"parallel.workers={workers}", f"parallel.strategy={strategy}")
    plan = plan_of_config(tiny(*given), Hardware(cores=4), NETLIST)
    assert plan.workers == 4
    budget = replace(plan, wave=plan.samples_per_group).at(fitting).bytes
    limited = tiny(*given, f"parallel.memory_budget={budget}B")
    found = plan_of_config(limited, Hardware(cores=4), NETLIST)
    assert found.workers == fitting
    assert found.waves > 1
