"""Gradients of hard circuits are the engine's and the oracle's, or said to be too large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.engine import hard_gradients as hard_gradients_module
from difflogic.engine import oracle
from difflogic.engine.hard import mark_live
from difflogic.engine.hard_gradients import HardGradients
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.gates import OPS, Op, one_hot
from difflogic.netlist import Architecture, flatten, wire

ARCHITECTURE = Architecture(channels=3, kernels=2, perception=(8, 4, 2), update=(16, 16, 8, 6, 3))


class Case:
    """A circuit, some samples and the slopes of a loss by their last states."""

    def __init__(self, seed, boundary, masked, passing, batch=None, most=9):
        rng = np.random.default_rng(seed)
        self.netlist = flatten(wire(ARCHITECTURE, rng))
        height, width = rng.integers(1, most, 2).tolist()
        self.grid, self.steps = Grid(height, width, boundary), int(rng.integers(1, 6))
        self.batch = batch or int(rng.integers(1, 5))
        self.channels = sorted(rng.choice(3, int(rng.integers(1, 3)), replace=False).tolist())
        ops = rng.integers(0, OPS, self.netlist.parameters)
        passes = rng.choice([Op.A, Op.B], self.netlist.parameters)
        here = rng.random(self.netlist.parameters) < passing
        self.ops = np.where(here, passes, ops).astype(np.uint8)
        shape = (self.batch, 3, height, width)
        self.starts = rng.integers(0, 2, shape, dtype=np.uint8)
        self.slope = rng.integers(-1, 2, (self.batch, len(self.channels), height, width))
        self.masks = None
        if masked:
            masks = rng.random((self.batch, self.steps, height, width)) < 0.6
            self.masks = masks.astype(np.uint8)

    def found(self, hard, samples=slice(None)):
        masks = None if self.masks is None else self.masks[samples]
        hard.add(self.starts[samples], self.slope[samples], self.channels, masks)

    def made(self, batch=None):
        hard = HardGradients(self.netlist, self.grid, self.steps, batch or self.batch)
        hard.begin(self.ops, self.channels)
        return hard

    def whole_slope(self):
        slope = np.zeros((self.batch, 3, self.grid.height, self.grid.width))
        slope[:, self.channels] = self.slope
        return slope

    def by_oracle(self):
        coefficients, total = one_hot(self.ops), np.zeros((self.netlist.parameters, 4))
        for sample, slope in enumerate(self.whole_slope()):
            mask = None if self.masks is None else self.masks[sample]
            states = oracle.rollout(
                self.netlist, coefficients, self.starts[sample], self.steps, self.grid.boundary,
                mask,
            )  # fmt: skip
            total += oracle.coefficient_gradients(
                self.netlist, coefficients, states, slope, self.grid.boundary, mask
            )
        return total


cases = given(
    seed=st.integers(0, 2**32), boundary=st.sampled_from(["zero", "periodic"]),
    masked=st.booleans(), passing=st.sampled_from([0.0, 0.5, 0.9]),
)  # fmt: skip


@cases
@settings(max_examples=25)
def test_they_are_the_oracles(seed, boundary, masked, passing):
    case = Case(seed, boundary, masked, passing)
    hard = case.made()
    case.found(hard)
    np.testing.assert_array_equal(hard.gradients, case.by_oracle())


@cases
@settings(max_examples=10)
def test_they_are_the_engines_to_the_bit(seed, boundary, masked, passing):
    """On more cells than a tile has, several samples together; then another circuit."""
    case = Case(seed, boundary, masked, passing, batch=9, most=16)
    coefficients = one_hot(case.ops, np.float32)
    hard = case.made()
    case.found(hard)
    with Engine(case.netlist, case.grid, case.steps, case.batch) as engine:
        engine.forward(coefficients, case.starts, case.masks)
        expected = engine.backward(case.whole_slope().astype(np.float32))
    np.testing.assert_array_equal(hard.gradients.astype(np.float32), expected)
    hard.begin(np.full_like(case.ops, Op.FALSE), case.channels)
    case.found(hard)
    assert not hard.gradients[:, 1:].any()


def test_samples_may_come_one_after_the_other_and_fewer_than_there_is_room_for():
    case = Case(4, "periodic", True, 0.5, batch=5)
    together, apart = case.made(), case.made(batch=3)
    case.found(together)
    for samples in (slice(0, 3), slice(3, 5)):
        case.found(apart, samples)
    assert together.gradients.any()
    np.testing.assert_array_equal(together.gradients, apart.gradients)


def test_steps_may_be_shared_among_calls(monkeypatch):
    case = Case(4, "zero", True, 0.5)
    assert case.steps > 1
    whole, pieces = case.made(), case.made()
    case.found(whole)
    monkeypatch.setattr(hard_gradients_module, "GATE_WORDS_PER_CALL", 1)
    case.found(pieces)
    np.testing.assert_array_equal(whole.gradients, pieces.gradients)


@pytest.mark.parametrize("factor", [2**16, 2**18])
def test_large_slopes_are_exact_too(factor):
    """Their sums are far beyond what a float32 holds exactly; those of one cell are not."""
    case = Case(26, "periodic", False, 0.5, batch=9, most=16)
    small = case.by_oracle()
    case.slope = case.slope * factor
    hard = case.made()
    case.found(hard)
    assert np.abs(small).max() * factor > 2**24
    np.testing.assert_array_equal(hard.gradients, small * factor)


def test_what_leaves_the_range_is_no_number():
    case = Case(4, "periodic", False, 0.5)
    case.slope = case.slope * 1e38
    hard = case.made()
    case.found(hard)
    assert not np.isfinite(hard.gradients).all()


def by_brute_force(case, coefficients):
    """The loss Σ slope·last state, by the oracle, where gates are what coefficients say."""
    total = 0.0
    for sample, slope in enumerate(case.whole_slope()):
        mask = None if case.masks is None else case.masks[sample]
        last = oracle.rollout(
            case.netlist, coefficients, case.starts[sample], case.steps, case.grid.boundary, mask
        )[-1]
        total += (slope * last).sum()
    return total


def test_they_are_finite_differences_of_the_hard_circuit():
    case = Case(8, "zero", True, 0.5)
    hard = case.made()
    case.found(hard)
    exact, rng, step = one_hot(case.ops), np.random.default_rng(0), 1e-5
    assert np.count_nonzero(hard.gradients.any(axis=1)) > 10
    for place in rng.choice(exact.size, 40, replace=False).tolist():
        up, down = exact.copy(), exact.copy()
        up.flat[place] += step
        down.flat[place] -= step
        slope = (by_brute_force(case, up) - by_brute_force(case, down)) / (2 * step)
        assert slope == pytest.approx(hard.gradients.flat[place], abs=1e-4)


@given(st.integers(0, 2**32), st.floats(0, 1))
@settings(max_examples=25)
def test_rows_with_slopes_never_are_more_than_there_is_room_for(seed, passing):
    """Else a place would be taken that is not there: checked gate by gate in Python."""
    case = Case(seed, "zero", False, passing)
    netlist, placed, most = case.netlist, set(), 0
    live, _ = mark_live(netlist, case.ops, case.channels)
    for row in netlist.outputs:
        placed.add(int(row))
    for gate in range(netlist.gates - 1, -1, -1):
        row = netlist.inputs + gate
        if live[row]:
            placed |= {int(netlist.a[gate]), int(netlist.b[gate])}
        most = max(most, len(placed))
        placed.discard(row)
    assert most <= hard_gradients_module.most_slopes(netlist) <= netlist.rows
