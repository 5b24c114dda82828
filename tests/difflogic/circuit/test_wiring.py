from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.wiring import FIRST_TOPOLOGIES, moore, random, unique
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


@given(seeds)
def test_moore(seed):
    wiring = moore(9, 8, np.random.default_rng(seed))
    check(wiring, 9, 8)
    assert sorted(wiring.a) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert wiring.b.tolist() == [4] * 8


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


@pytest.mark.parametrize("topology", FIRST_TOPOLOGIES)
def test_the_generator_alone_decides(topology):
    first, second = (FIRST_TOPOLOGIES[topology](9, 8, np.random.default_rng(3)) for _ in range(2))
    assert pairs(first) == pairs(second)


@pytest.mark.parametrize(
    ("topology", "inputs", "gates", "says"),
    [
        ("moore", 9, 7, "9 inputs and 8 gates, not 9 inputs and 7 gates"),
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
