"""The engine, compared with the oracle, and with itself under any sharing of the work."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.grid import Grid
from difflogic.engine.kernels.teams import ABORTED
from difflogic.engine.soft import arrangement
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import Sharing
from difflogic.engine.workers import Workers
from difflogic.system import memory
from difflogic.system.errors import ConfigError
from difflogic.system.work import working
from difflogic.verification.case import IRREGULAR, SINGLE, SMALL
from tests.difflogic.engine.comparison import (
    COPIES,
    EXAMPLES,
    MOVING,
    ONE_LAYER,
    TOLERANCES,
    assert_close,
    compare_with_oracle,
    make_problem,
    netlist_of,
    problems,
    run_engine,
    run_oracle,
    sharings,
)
from tests.marks import each_boundary, precisions

CASES = {
    "one cell": (SMALL, (1, 1), 3, 2, 1.0),
    "two cells": (SINGLE, (1, 2), 3, 2, 0.5),
    "2×2, where periodic neighbours coincide": (IRREGULAR, (2, 2), 3, 1, 1.0),
    "more samples than a tile holds": (ONE_LAYER, (1, 1), 2, 70, 1.0),
    "samples that do not fill a group": (SINGLE, (3, 3), 3, 9, 0.6),
    "just a tile": (SINGLE, (8, 8), 2, 1, 1.0),
    "a tile and one cell": (ONE_LAYER, (5, 13), 2, 1, 0.6),
    "several tiles": (IRREGULAR, (11, 13), 2, 2, 1.0),
    "several tiles a chunk": (ONE_LAYER, (33, 64), 2, 1, 0.6),
}


def case(name, boundary):
    architecture, size, steps, batch, fire_rate = CASES[name]
    return make_problem(
        netlist_of(architecture), Grid(*size, boundary), steps, batch, fire_rate, seed=1
    )


@pytest.mark.once
@precisions
@each_boundary
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_oracle(name, boundary, dtype):
    compare_with_oracle(case(name, boundary), dtype)


@pytest.mark.once
@settings(max_examples=EXAMPLES)
@given(problems(), sharings)
def test_agrees_with_the_oracle_on_any_problem(problem, sharing):
    compare_with_oracle(problem, "float64", sharing)


def equal(one, other):
    return all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


COPYING = {
    # The next tile overwrites the row that a held channel's next state is.
    "held": (netlist_of(replace(SMALL, held=(0,))), Grid(2, 11, "zero")),
    "moving": (MOVING, Grid(2, 1, "zero")),
    "two of one row": (netlist_of(COPIES), Grid(3, 5, "zero")),
    "all of one row, and no live gate": (
        netlist_of(replace(SMALL, held=(0,), moving=((1, 4, 0), (2, 4, 0)))),
        Grid(3, 5, "zero"),
    ),
}


@pytest.mark.parametrize("fire_rate", [1.0, 0.5])
@pytest.mark.parametrize("name", COPYING)
def test_channels_that_copy_inputs_have_the_oracles_gradients(name, fire_rate):
    compare_with_oracle(make_problem(*COPYING[name], 2, 1, fire_rate), "float32")


@pytest.mark.once
@settings(max_examples=EXAMPLES)
@given(problems(), sharings)
def test_sharing_changes_no_bit(problem, sharing):
    for dtype in TOLERANCES:
        assert equal(run_engine(problem, dtype, sharing), run_engine(problem, dtype))


def test_an_engine_forgets_the_batch_before():
    netlist = netlist_of(SINGLE)
    grid = Grid(3, 3, "zero")
    first, second = (make_problem(netlist, grid, 2, n, rate, n) for n, rate in ((9, 0.5), (4, 1.0)))
    third = make_problem(netlist, grid, 2, 8, 0.7, 5)
    with Engine(netlist, grid, 2, 9, "float64", Sharing(2)) as engine:
        for problem in (first, second, third, first):
            coefficients, starts, masks, upstream = problem.arrays()
            engine.forward(coefficients, starts, masks)
            states = engine.states()
            gradients = engine.backward(upstream)
            # Some batches are smaller than the engine's, some have masks.
            expected_states, expected = run_oracle(problem)
            assert_close(states, expected_states, TOLERANCES["float64"])
            assert_close(gradients, expected, TOLERANCES["float64"])


def test_too_large_a_rollout_is_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(
        ConfigError, match=r"need 1\d\.\d GB, and 1.00 MB are available: .* or \[training\] batch"
    ):
        Engine(netlist_of(ONE_LAYER), Grid(1000, 1000, "zero"), 1000, 2)
    # With unknown memory, it is tried.
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    Engine(netlist_of(ONE_LAYER), Grid(5, 5, "zero"), 10, 2)


def test_denormal_numbers_still_work_afterwards():
    tiny = np.float32(1e-40)
    assert tiny * np.float32(1) != 0
    run_engine(case("one cell", "zero"), "float32", Sharing(2))
    assert np.full(4, tiny).sum() != 0
    assert tiny * np.float32(1) != 0


@pytest.mark.parametrize("strategy", ["cells", "steps"])
@pytest.mark.parametrize("starts_alone", [0, 1])
def test_a_worker_does_not_wait_for_workers_that_never_start(strategy, starts_alone, monkeypatch):
    problem = case("several tiles", "zero")
    coefficients, starts, masks, _ = problem.arrays("float32")
    returned = []

    def interrupted(team, kernel, calls):
        calls[0][1].control[ABORTED] = 1
        returned.append(kernel(*calls[starts_alone]))
        raise KeyboardInterrupt

    monkeypatch.setattr(Workers, "run", interrupted)
    sharing = Sharing(2, strategy)
    engine = Engine(problem.netlist, problem.grid, problem.steps, 2, sharing=sharing)
    with engine, pytest.raises(KeyboardInterrupt):
        engine.forward(coefficients, starts, masks)
    assert returned == [None]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_rollout_in_spans_gives_the_same_bits(workers, monkeypatch):
    problem = make_problem(netlist_of(SMALL), Grid(5, 7, "zero"), 5, 4, 0.6)
    coefficients, starts, masks, loss_gradients = problem.arrays("float32")
    channels = range(problem.netlist.channels)
    targets = np.zeros_like(starts, "float32")

    def run():
        heard = []
        with (
            working(hear=heard.append),
            Engine(
                problem.netlist, problem.grid, 5, problem.batch, "float32", Sharing(workers)
            ) as engine,
        ):
            engine.forward(coefficients, starts, masks)
            gradients = engine.backward(loss_gradients)
            states = engine.states()
            losses, _ = engine.run_training(coefficients, starts, targets, channels, masks, (2, 4))
            supervised = engine.reduce(np.zeros_like(coefficients))
        return (gradients, states, np.array(losses), supervised), heard

    whole, heard = run()
    assert not any(pause.done for pause in heard)
    monkeypatch.setattr(arrangement, "GATE_LANES_PER_CALL", 1)
    spans, heard = run()
    assert equal(spans, whole)
    parts = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2, 3]
    assert [pause.done for pause in heard] == parts
    assert {pause.total for pause in heard} == {5, 4}


def test_a_rollout_can_be_cancelled_between_spans(monkeypatch):
    monkeypatch.setattr(arrangement, "GATE_LANES_PER_CALL", 1)
    problem = make_problem(netlist_of(SMALL), Grid(5, 7, "zero"), 5, 2)
    coefficients, starts, masks, loss_gradients = problem.arrays("float32")
    with Engine(problem.netlist, problem.grid, 5, 2, "float32", Sharing(2)) as engine:
        before = engine.forward(coefficients, starts, masks)
        gradients = engine.backward(loss_gradients)

        def stop(pause):
            raise KeyboardInterrupt

        with working(hear=stop), pytest.raises(KeyboardInterrupt):
            engine.forward(coefficients, 1 - starts, masks)
        # The engine can be used again.
        assert (engine.forward(coefficients, starts, masks) == before).all()
        assert (engine.backward(loss_gradients) == gradients).all()
