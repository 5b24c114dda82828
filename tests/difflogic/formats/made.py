"""Circuits and automata to write and read."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from tests.difflogic.circuit.rules import circuits


@st.composite
def automata(draw):
    """Any automaton that a file can hold."""
    circuit = draw(circuits(3))
    visible = st.lists(st.sampled_from(circuit.labels), min_size=1, unique=True)
    size = st.integers(1, 65536)
    return Automaton(
        draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)),
        circuit,
        tuple(draw(visible)),
        draw(st.sampled_from(["zero", "periodic"])),
        draw(size),
        draw(size),
        draw(st.integers(1, 10**6)),
        draw(st.floats(0, 1, exclude_min=True)),
        draw(st.sampled_from(["random", "center", "zeros"])),
    )


def random_circuit(channels, gates, rng, labels=None):
    """A deep circuit: its gates mostly read recent ones."""
    inputs = 9 * channels
    own = np.arange(inputs, inputs + gates)
    near = np.maximum(own - 1 - rng.geometric(0.1, (2, gates)), 0)
    far = rng.integers(0, own, (2, gates))
    a, b = np.where(rng.random((2, gates)) < 0.6, near, far)
    outputs = rng.integers(max(0, inputs + gates - 4 * channels), inputs + gates, channels)
    ops = rng.integers(0, 16, gates)
    return Circuit(ops, a, b, outputs, labels or tuple(range(channels)))


def assert_same(found: Automaton, expected: Automaton) -> None:
    """Compare all fields of two automata."""
    for name in ("op", "a", "b", "outputs", "labels"):
        one, other = (getattr(each.circuit, name) for each in (found, expected))
        np.testing.assert_array_equal(one, other, strict=True)
    assert vars(found) | {"circuit": None} == vars(expected) | {"circuit": None}
