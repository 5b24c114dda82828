"""Circuits and automata to write and read."""

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from tests.difflogic.circuit import rules
from tests.examples import any_boundary


@st.composite
def automata(draw):
    """Any automaton that a file can hold."""
    circuit = draw(rules.circuits(3))
    visible = st.lists(st.sampled_from(circuit.labels), min_size=1, unique=True)
    size = st.integers(1, 65536)
    return Automaton(
        draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)),
        circuit,
        tuple(draw(visible)),
        draw(any_boundary),
        draw(size),
        draw(size),
        draw(st.integers(1, 10**6)),
        draw(st.floats(0, 1, exclude_min=True)),
        draw(st.sampled_from(["random", "center", "zeros"])),
    )


def random_circuit(channels, gates, rng, labels=()):
    """A circuit with as many gates as asked for."""
    return rules.random_circuit(rng, channels, gates, labels)


def assert_same(found: Automaton, expected: Automaton) -> None:
    """Compare all fields of two automata."""
    for name in ("op", "a", "b", "outputs", "labels"):
        one, other = (getattr(each.circuit, name) for each in (found, expected))
        np.testing.assert_array_equal(one, other, strict=True)
    assert vars(found) | {"circuit": None} == vars(expected) | {"circuit": None}
