"""The pure functions, compared with the oracle and with a walk by hand."""

import numpy as np
import pytest

from difflogic.engine import oracle
from difflogic.engine.gradients import rollout_gradients, step_gradients
from difflogic.engine.layout import Grid
from tests.difflogic.engine.comparison import (
    IRREGULAR,
    ONE_LAYER,
    SINGLE,
    SMALL,
    TOLERANCES,
    assert_close,
    make_problem,
    netlist_of,
)
from tests.difflogic.engine.test_rollout import boundaries, case, equal, precisions


@pytest.mark.thorough
@precisions
@boundaries
@pytest.mark.parametrize("name", ["one cell", "a tile and one cell", "several tiles"])
def test_gradients_of_one_sample_are_a_pure_function(name, boundary, dtype):
    problem = case(name, boundary)
    coefficients, starts, masks, upstream = problem.arrays(dtype)
    mask = None if masks is None else masks[0]
    arguments = (coefficients, starts[0], upstream[0], problem.steps, problem.grid, mask)
    before = [None if a is None else np.copy(a) for a in (coefficients, starts, upstream, mask)]
    one = rollout_gradients(problem.netlist, *arguments)
    two = rollout_gradients(problem.netlist, *arguments)
    np.testing.assert_array_equal(one, two)
    assert one is not two
    assert one.dtype == dtype
    for now, then in zip((coefficients, starts, upstream, mask), before, strict=True):
        np.testing.assert_array_equal(now, then)
    states = oracle.rollout(
        problem.netlist, problem.coefficients, starts[0], problem.steps, boundary, mask
    )
    expected = oracle.coefficient_gradients(
        problem.netlist, problem.coefficients, states, problem.loss_gradients[0], boundary, mask
    )
    assert_close(one, expected, TOLERANCES[dtype])


@pytest.mark.thorough
@precisions
@pytest.mark.parametrize("cells", [1, 17, 64])
@pytest.mark.parametrize("architecture", [SMALL, SINGLE, IRREGULAR])
def test_gradients_of_one_tile_are_a_pure_function(architecture, cells, dtype):
    netlist = netlist_of(architecture)
    problem = make_problem(netlist, Grid(1, 1, "zero"), 1, 1)
    rng = np.random.default_rng(cells)
    arguments = [
        problem.coefficients.astype(dtype),
        rng.random((netlist.inputs, cells)).astype(dtype),
        rng.normal(size=(netlist.channels, cells)).astype(dtype),
    ]
    before = [a.copy() for a in arguments]
    one, two = step_gradients(netlist, *arguments), step_gradients(netlist, *arguments)
    assert equal(one, two)
    assert equal(arguments, before)
    to_inputs, to_coefficients = tile_by_hand(netlist, *(a.astype(float) for a in before))
    assert one[0].shape == (netlist.inputs, cells)
    assert one[0].dtype == one[1].dtype == dtype
    assert_close(one[0], to_inputs, TOLERANCES[dtype])
    assert_close(one[1], to_coefficients, TOLERANCES[dtype])


def tile_by_hand(netlist, coefficients, inputs, output_gradients):
    """The same gradients, gate by gate, with the rows of the netlist."""
    values = oracle.evaluate(netlist, coefficients, inputs)
    grad = np.zeros_like(values)
    grad[netlist.outputs] = output_gradients
    sums = np.zeros_like(coefficients)
    for gate in range(netlist.gates)[::-1]:
        a, b, p = netlist.a[gate], netlist.b[gate], netlist.param[gate]
        g, x, y = grad[netlist.inputs + gate], values[a], values[b]
        grad[a] += g * (coefficients[p, 1] + coefficients[p, 3] * y)
        grad[b] += g * (coefficients[p, 2] + coefficients[p, 3] * x)
        sums[p] += [part.sum() for part in (g, g * x, g * y, g * x * y)]
    return grad[: netlist.inputs], sums


def test_a_tile_with_too_many_cells_is_refused():
    netlist = netlist_of(ONE_LAYER)
    coefficients = np.zeros((netlist.parameters, 4))
    with pytest.raises(ValueError, match="at most 64 cells, not 65"):
        step_gradients(netlist, coefficients, np.zeros((18, 65)), np.zeros((2, 65)))
