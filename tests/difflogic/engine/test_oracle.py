"""The oracle, compared with independent code: plain loops, SciPy, finite differences."""

import numpy as np
import pytest
from hypothesis import example, given, settings

from difflogic.circuit.grid import Grid
from difflogic.engine import oracle
from difflogic.verification.case import IRREGULAR
from tests.difflogic.engine.comparison import COPIES, make_problem, netlist_of, problems
from tests.examples import any_seed
from tests.marks import each_boundary

NUMPY = {"zero": "constant", "periodic": "wrap"}


def one_cell(netlist, coefficients, patch):
    """The next state of one cell from its patch (C, 3, 3), gate after gate."""
    rows = [float(patch[c, y, x]) for y in range(3) for x in range(3) for c in range(len(patch))]
    for a, b, param in zip(netlist.a, netlist.b, netlist.param, strict=True):
        x = rows[a]
        y = rows[b]
        # The mean of the four corners' values, weighted by how near (x, y) is to each.
        c0, c1, c2, c3 = coefficients[param]
        corners = (c0, c0 + c2, c0 + c1, c0 + c1 + c2 + c3)
        weights = ((1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y)
        rows.append(sum(w * f for w, f in zip(weights, corners, strict=True)))
    return [rows[row] for row in netlist.outputs]


@each_boundary
@pytest.mark.parametrize("size", [(1, 1), (3, 4), (5, 2)])
def test_a_rollout_updates_every_cell_by_itself(boundary, size):
    problem = make_problem(netlist_of(IRREGULAR), Grid(*size, boundary), 3, 1, fire_rate=0.7)
    states = oracle.rollout(
        problem.netlist, problem.coefficients, problem.starts[0], 3, boundary, problem.masks[0]
    )
    state = problem.starts[0].astype(float)
    for step in range(3):
        padded = np.pad(state, ((0, 0), (1, 1), (1, 1)), mode=NUMPY[boundary])
        new = state.copy()
        for y, x in np.ndindex(*size):
            if problem.masks[0][step, y, x]:
                patch = padded[:, y : y + 3, x : x + 3]
                new[:, y, x] = one_cell(problem.netlist, problem.coefficients, patch)
        state = new
        np.testing.assert_allclose(states[step + 1], state, atol=1e-12)


@pytest.mark.once
@settings(max_examples=20)
@given(problems(), any_seed)
@example(make_problem(netlist_of(COPIES), Grid(2, 2, "zero"), 3, 1), 0)
def test_gradients_are_central_differences(problem, seed):
    rng = np.random.default_rng(seed)
    netlist = problem.netlist
    boundary = problem.grid.boundary
    mask = None if problem.masks is None else problem.masks[0]
    upstream = problem.loss_gradients[0]

    def rollout(coefficients):
        start = problem.starts[0]
        return oracle.rollout(netlist, coefficients, start, problem.steps, boundary, mask)

    def value(coefficients):
        return float((rollout(coefficients)[-1] * upstream).sum())

    states = rollout(problem.coefficients)
    gradient = oracle.coefficient_gradients(
        netlist, problem.coefficients, states, upstream, boundary, mask
    )
    scale = max(np.abs(gradient).max(), 1e-3)
    for _ in range(6):
        place = tuple(rng.integers(0, (netlist.parameters, 4)))
        h = 1e-5
        above = problem.coefficients.copy()
        below = problem.coefficients.copy()
        above[place] += h
        below[place] -= h
        difference = (value(above) - value(below)) / (2 * h)
        assert abs(difference - gradient[place]) < 1e-6 * scale


def test_the_loss_counts_only_the_loss_channels():
    state = np.arange(12, dtype=float).reshape(3, 2, 2)
    target = np.zeros((2, 2, 2))
    expected = (state[0] ** 2).sum() + (state[2] ** 2).sum()
    assert oracle.loss(state, target, [0, 2]) == expected
    gradient = oracle.loss_gradient(state, target, [0, 2])
    np.testing.assert_array_equal(gradient, [2 * state[0], np.zeros((2, 2)), 2 * state[2]])
