"""Settling agrees with a plain run of the circuit, cell by cell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.evaluation.settling import LONGEST, settle
from tests.difflogic.circuit.circuits import automaton, circuits, step


def plain(machine, start):
    """Run one start (channels, height, width) as `settle` says it does."""
    state, (height, width) = start, start.shape[1:]
    share = max(1.0, max(height, width) / max(machine.height, machine.width))
    for _ in range(LONGEST * round(machine.steps * share)):
        following = step(machine.circuit, state, machine.boundary)
        if (following == state).all():
            return state, True
        state = following
    return state, False


@given(
    circuit=circuits(),
    seed=st.integers(0, 10**6),
    size=st.tuples(st.integers(1, 4), st.integers(1, 12)),
    boundary=st.sampled_from(["zero", "periodic"]),
)
def test_a_circuit_runs_until_it_rests(circuit, seed, size, boundary):
    machine = automaton(circuit, boundary=boundary, steps=2)
    start = np.random.default_rng(seed).integers(0, 2, (2, *size), dtype=np.uint8)
    expected, rests = plain(machine, start)
    found = settle(machine, start[None])
    assert found.rests == rests
    assert (found.shown[0] == expected).all()
