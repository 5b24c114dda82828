"""Gradients of hard circuits are the engine's and the oracle's, or said to be too large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.engine import hard_gradients as hard_gradients_module
from difflogic.engine import oracle
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
    np.testing.assert_array_equal(hard.gradients(), case.by_oracle())


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
    np.testing.assert_array_equal(hard.gradients().astype(np.float32), expected)
    hard.begin(np.full_like(case.ops, Op.FALSE), case.channels)
    case.found(hard)
    assert not hard.gradients()[:, 1:].any()


def test_samples_may_come_one_after_the_other_and_fewer_than_there_is_room_for():
    case = Case(4, "periodic", True, 0.5, batch=5)
    together, apart = case.made(), case.made(batch=3)
    case.found(together)
    for samples in (slice(0, 3), slice(3, 5)):
        case.found(apart, samples)
    assert together.gradients().any()
    np.testing.assert_array_equal(together.gradients(), apart.gradients())


def test_steps_may_be_shared_among_calls(monkeypatch):
    case = Case(4, "zero", True, 0.5)
    assert case.steps > 1
    whole, pieces = case.made(), case.made()
    case.found(whole)
    monkeypatch.setattr(hard_gradients_module, "GATE_WORDS_PER_CALL", 1)
    case.found(pieces)
    np.testing.assert_array_equal(whole.gradients(), pieces.gradients())


@pytest.mark.parametrize("factor", [2**22, 2**60])
def test_what_is_too_large_to_be_exact_is_not_told(factor):
    case = Case(4, "periodic", False, 0.5)
    case.slope = case.slope * factor
    hard = case.made()
    case.found(hard)
    assert hard.gradients() is None
