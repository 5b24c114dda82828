"""Gradients of hard circuits equal those of the oracle."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit.gates import Op, one_hot
from difflogic.circuit.grid import Grid
from difflogic.engine import oracle
from difflogic.engine.hard import gradients as hard_gradients_module
from difflogic.engine.hard.gradients import HardGradients
from difflogic.engine.hard.hard_simulator import mark_live
from difflogic.verification.case import SMALL
from tests.difflogic.engine.comparison import (
    make_problem,
    netlist_of,
    run_oracle,
    some_channels,
    some_ops,
)
from tests.examples import any_boundary, any_seed


class Case:
    """A circuit, some samples, and dL/d(last states)."""

    def __init__(self, seed, boundary, masked, passing, batch=None, most=9):
        rng = np.random.default_rng(seed)
        self.netlist = netlist_of(SMALL, seed)
        height, width = rng.integers(1, most, 2).tolist()
        self.grid = Grid(height, width, boundary)
        self.steps = int(rng.integers(2, 6))
        self.batch = batch or int(rng.integers(1, 5))
        how = self.steps, self.batch, 0.6 if masked else 1.0, seed
        self.problem = make_problem(self.netlist, self.grid, *how)
        self.starts, self.masks = self.problem.starts, self.problem.masks
        self.channels = some_channels(rng)
        self.ops = some_ops(self.netlist, rng, passing)
        self.slope = rng.integers(-1, 2, (self.batch, len(self.channels), height, width))

    def add_to(self, hard, samples=slice(None)):
        masks = None if self.masks is None else self.masks[samples]
        hard.add(self.starts[samples], self.slope[samples], self.channels, masks)

    def begin(self, batch=None):
        hard = HardGradients(self.netlist, self.grid, self.steps, batch or self.batch)
        hard.begin(self.ops, self.channels)
        return hard

    def by_oracle(self):
        slopes = np.zeros(self.starts.shape)
        slopes[:, self.channels] = self.slope
        problem = replace(self.problem, coefficients=one_hot(self.ops), loss_gradients=slopes)
        return run_oracle(problem)[1]


cases = given(
    seed=any_seed,
    boundary=any_boundary,
    masked=st.booleans(),
    passing=st.sampled_from([0.0, 0.5, 0.9]),
)


@cases
@settings(max_examples=15)
def test_they_equal_the_oracles(seed, boundary, masked, passing):
    """With more cells than a word and several samples; then with another circuit."""
    case = Case(seed, boundary, masked, passing, batch=5, most=16)
    hard = case.begin()
    case.add_to(hard)
    assert_array_equal(hard.gradients, case.by_oracle())
    hard.begin(np.full_like(case.ops, Op.FALSE), case.channels)
    case.add_to(hard)
    assert not hard.gradients[:, 1:].any()


def test_smaller_batches_and_several_calls_give_the_same_bits(monkeypatch):
    case = Case(4, "zero", True, 0.5, batch=5)
    together = case.begin()
    apart = case.begin(batch=3)
    case.add_to(together)
    monkeypatch.setattr("difflogic.engine.hard.hard_simulator.GATE_WORDS_PER_CALL", 1)
    for samples in (slice(0, 3), slice(3, 5)):
        case.add_to(apart, samples)
    assert together.gradients.any()
    assert_array_equal(together.gradients, apart.gradients)


@pytest.mark.parametrize("factor", [2**16, 2**18])
def test_large_slopes_are_exact(factor):
    """Sums may exceed what a float32 holds exactly, as long as those of one cell do not."""
    case = Case(15, "periodic", False, 0.5, batch=9, most=16)
    small = case.by_oracle()
    case.slope = case.slope * factor
    hard = case.begin()
    case.add_to(hard)
    assert np.abs(small).max() * factor > 2**24
    assert_array_equal(hard.gradients, small * factor)


@given(any_seed, st.floats(0, 1))
@settings(max_examples=25)
def test_there_is_room_for_the_slopes_of_any_circuit(seed, passing):
    """Checked gate by gate in Python, since kernels check no bounds."""
    case = Case(seed, "zero", False, passing)
    netlist = case.netlist
    placed = set()
    most = 0
    live, _, _ = mark_live(netlist, case.ops, case.channels)
    for row in netlist.outputs:
        placed.add(int(row))
    for gate in range(netlist.gates - 1, -1, -1):
        row = netlist.inputs + gate
        if live[row]:
            placed |= {int(netlist.a[gate]), int(netlist.b[gate])}
        most = max(most, len(placed))
        placed.discard(row)
    assert most <= hard_gradients_module.most_slopes(netlist) <= netlist.rows


def run_with(case, sample, nudged=None, by=0.0):
    """States (steps + 1, C, H, W) and values (steps, rows, cells) as real numbers.

    One value, that of `nudged` (row, step, cell), is increased by `by`.
    """
    coefficients = one_hot(case.ops)
    state = case.starts[sample].astype(np.float64)
    states = [state]
    values = []
    for step in range(case.steps):
        rows = np.empty((case.netlist.rows, state[0].size))
        rows[: case.netlist.inputs] = oracle.perceive(state, case.grid.boundary)
        for gate in range(case.netlist.gates):
            a = rows[case.netlist.a[gate]]
            b = rows[case.netlist.b[gate]]
            c0, c1, c2, c3 = coefficients[case.netlist.param[gate]]
            row = case.netlist.inputs + gate
            rows[row] = c0 + c1 * a + c2 * b + c3 * a * b
            if nudged is not None and nudged[:2] == (row, step):
                rows[row, nudged[2]] += by
        state = rows[case.netlist.outputs].reshape(state.shape)
        states.append(state)
        values.append(rows)
    return np.array(states), np.array(values)


@cases
@settings(max_examples=8)
def test_traces_hold_the_slopes_and_values_of_single_cells(seed, boundary, masked, passing):
    """Slopes equal finite differences of a loss at several steps, values those of the oracle."""
    case = Case(seed, boundary, False, passing, batch=2, most=4)
    rng = np.random.default_rng(seed)
    counted = sorted({case.steps, *rng.integers(1, case.steps + 1, 2).tolist()})
    slopes = {step: rng.integers(-1, 2, case.slope.shape).astype(float) for step in counted}
    live, _, _ = mark_live(case.netlist, case.ops, case.channels)
    live = np.flatnonzero(live[case.netlist.inputs :]) + case.netlist.inputs
    kept = rng.permutation(live)[:8].astype(np.int32)
    read = rng.permutation(case.netlist.rows)[:20].astype(np.int32)
    hard = HardGradients(case.netlist, case.grid, case.steps, case.batch)
    hard.begin(case.ops, case.channels, read)
    values, found = hard.trace(case.starts, slopes, case.channels, read, kept)
    cells = case.grid.cells
    whole = case.batch * case.grid.cells
    bits = np.unpackbits(values.view(np.uint8), axis=2, bitorder="little")[:, :, :whole]
    bits = bits.reshape(len(read), case.steps, case.batch, cells)
    for sample in range(case.batch):
        expected = run_with(case, sample)[1]
        assert_array_equal(bits[:, :, sample], expected[:, read].swapaxes(0, 1))

    def loss(sample, *nudge):
        states = run_with(case, sample, *nudge)[0]
        return sum(
            float((slope[sample] * states[step][case.channels]).sum())
            for step, slope in slopes.items()
        )

    assert found.shape == (len(kept), case.steps, hard.points // case.steps)
    for _ in range(4 if len(kept) else 0):
        place = int(rng.integers(len(kept)))
        step = int(rng.integers(case.steps))
        sample = int(rng.integers(case.batch))
        cell = int(rng.integers(cells))
        nudged = int(kept[place]), step, cell
        difference = (loss(sample, nudged, 1e-4) - loss(sample, nudged, -1e-4)) / 2e-4
        assert found[place, step, sample * cells + cell] == pytest.approx(
            difference, rel=1e-3, abs=0.01
        )
