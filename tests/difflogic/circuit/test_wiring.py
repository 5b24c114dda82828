from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.wiring import FIRST_TOPOLOGIES, compare, random, unique
from difflogic.system.errors import ConfigError

seeds = st.integers(0, 2**32)


@st.composite
def unique_sizes(draw):
    inputs = draw(st.integers(2, 40))
    return inputs, draw(st.integers((inputs + 1) // 2, inputs * (inputs - 1) // 2))


@st.composite
def random_sizes(draw):
    inputs = draw(st.integers(1, 40))
    return inputs, draw(st.integers((inputs + 1) // 2, 100))


def check(wiring, inputs, gates):
    assert wiring.inputs == inputs
    assert wiring.gates == gates
    for wires in (wiring.a, wiring.b):
        assert wires.shape == (gates,)
        assert wires.dtype == np.int32
    assert set(wiring.a) | set(wiring.b) == set(range(inputs))


def pairs(wiring):
    return list(zip(wiring.a.tolist(), wiring.b.tolist(), strict=True))


def in_order_of_distance(inputs, gates):
    """Enumerate the pairs as experiments describe them, without a permutation."""
    found = [(i, i + 1) for i in range(0, inputs - 1, 2)]
    found += [(i, i + 1) for i in range(1, inputs - 1, 2)]
    for distance in range(2, inputs):
        found += [(i, i + distance) for i in range(inputs - distance)]
    return found[:gates]


SEEN = {"moore": "012345678", "von-neumann": "13457", "hexagonal": "0134578", "line": "345"}
"""Cells of a 3×3 square, row by row. Hexagonal without NE and SW, as in Golly."""


@given(st.sampled_from(sorted(SEEN)), st.integers(1, 3), st.integers(1, 3), seeds)
def test_neighbours_are_compared_with_the_centre(name, channels, times, seed):
    around = [9 * channel + int(cell) for channel in range(channels) for cell in SEEN[name]]
    around = [cell for cell in around if cell % 9 != 4]
    gates = times * len(around)
    wiring = compare(name, 9 * channels, gates, np.random.default_rng(seed))
    assert sorted(wiring.a) == sorted(around * times)
    assert wiring.b.tolist() == [4] * gates
    assert wiring.a.dtype == wiring.b.dtype == np.int32


@given(unique_sizes(), seeds)
def test_unique_takes_the_nearest_pairs(sizes, seed):
    inputs, gates = sizes
    expected = in_order_of_distance(inputs, gates)
    if inputs - 1 not in {b for _, b in expected}:
        expected[-1] = (inputs - 2, inputs - 1)
    wiring = unique(inputs, gates, np.random.default_rng(seed))
    assert sorted(pairs(wiring)) == sorted(expected)


def test_unique_permutes_the_gates():
    wirings = {tuple(pairs(unique(9, 8, np.random.default_rng(seed)))) for seed in range(10)}
    assert len(wirings) == 10


@given(random_sizes(), seeds)
def test_random_reads_all_inputs_about_equally_often(sizes, seed):
    inputs, gates = sizes
    wiring = random(inputs, gates, np.random.default_rng(seed))
    check(wiring, inputs, gates)
    reads = Counter([*wiring.a.tolist(), *wiring.b.tolist()])
    assert max(reads.values()) - min(reads.values()) <= 1


@pytest.mark.parametrize("topology", sorted({*FIRST_TOPOLOGIES} - {"hexagonal"}))
def test_the_generator_alone_decides(topology):
    first, second = (FIRST_TOPOLOGIES[topology](9, 8, np.random.default_rng(3)) for _ in range(2))
    assert pairs(first) == pairs(second)


@pytest.mark.parametrize(
    ("topology", "inputs", "gates", "says"),
    [
        ("moore", 9, 7, "multiple of 8 gates for each channel, not 9 inputs and 7 gates"),
        ("hexagonal", 9, 8, "compares 6 neighbours with the centre"),
        ("line", 9, 0, "not 9 inputs and 0 gates"),
        ("moore", 8, 8, "not 8 inputs and 8 gates"),
        ("unique", 9, 4, "use at least 5 gates"),
        ("random", 9, 4, "use at least 5 gates"),
        ("unique", 4, 7, "6 pairs of 4 inputs, too few for 7 gates"),
        ("unique", 1, 1, "0 pairs"),
        ("unique", 0, 0, "at least one gate"),
        ("random", 3, -1, "at least one gate"),
    ],
)
def test_what_cannot_be_wired(topology, inputs, gates, says):
    with pytest.raises(ConfigError, match=says):
        FIRST_TOPOLOGIES[topology](inputs, gates, np.random.default_rng(0))
