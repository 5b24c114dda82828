import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.simulation import native
from difflogic.simulation.random_bits import (
    GOLDEN,
    Use,
    bernoulli,
    child_keys,
    digits,
    mix,
    stream_key,
    threshold,
)
from tests.difflogic.circuit.rules import life_automaton

ALL = 2**64


def numbers(key, words):
    """Build the 64-bit random number of each place from its binary digits."""
    found = []
    for word in range(words):
        planes = [
            int(mix(np.array([(key + GOLDEN * (64 * word + digit)) % ALL], np.uint64))[0])
            for digit in range(64)
        ]
        for bit in range(64):
            found.append(sum((plane >> bit & 1) << 63 - d for d, plane in enumerate(planes)))
    return found


@given(st.integers(0, ALL - 1), st.one_of(st.floats(0, 1), st.sampled_from([0.5, 2**-40])))
def test_a_bit_is_a_random_number_below_the_threshold(key, probability):
    limit = threshold(probability)
    words = bernoulli(np.array([key], np.uint64), 2, limit)[0]
    bits = [int(word) >> bit & 1 for word in words for bit in range(64)]
    assert bits == [int(number < limit) for number in numbers(key, 2)]


def test_thresholds_are_exact():
    assert threshold(0.0) == 0
    assert threshold(0.5) == 2**63
    assert threshold(1.0) == ALL - 1
    assert abs(threshold(0.6) / ALL - 0.6) < 2**-52
    assert (digits(0), digits(2**63), digits(3 << 60), digits(1)) == (0, 1, 4, 64)


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.01, 0.999])
def test_statistics(probability):
    keys = child_keys(stream_key(3, Use.FIRE), np.arange(500))
    words = bernoulli(keys, 64, threshold(probability))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(float)
    spread = np.sqrt(probability * (1 - probability))
    assert abs(bits.mean() - probability) < 5 * spread / np.sqrt(bits.size)
    z = (bits - probability) / spread
    # Neighbours along the row, in the next word, across rows; rows' and columns' sums.
    for pair in ((z[:, :-1], z[:, 1:]), (z[:, :-64], z[:, 64:]), (z[:-1], z[1:])):
        product = pair[0] * pair[1]
        assert abs(product.mean()) < 5 / np.sqrt(product.size)
    for axis in (0, 1):
        sums = z.sum(axis=axis) / np.sqrt(z.shape[axis])
        assert abs((sums**2).mean() - 1) < 5 * np.sqrt(2 / len(sums))


@pytest.mark.once
@pytest.mark.parametrize("words", [2, 4, 8])
@pytest.mark.parametrize("probability", [0.0, 0.25, 0.375, 0.6, 1.0])
def test_compiled_bits_are_the_same(words, probability):
    if words > native.vector_words():
        pytest.skip("wider than this machine's vectors")
    code = native.link(native.compile_code(life_automaton().circuit, words), words)
    limit = threshold(probability)
    out = np.zeros(words * 5, np.uint64)
    fill = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 5)(code.engine.get_function_address("fill"))
    fill(out.ctypes.data, 5, 12345, limit, digits(limit))
    expected = bernoulli(np.array([12345], np.uint64), len(out), limit)[0]
    np.testing.assert_array_equal(out, expected)
