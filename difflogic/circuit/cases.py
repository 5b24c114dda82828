"""All cases of a few inputs as words: every bit is a case of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from difflogic.circuit.evaluate import Bits

Words = npt.NDArray[np.uint64]

MOST_INPUTS = 20
"""Inputs up to which proofs try all cases: a million, some milliseconds for a usual output."""

MOST_WORDS, MOST_ROW_WORDS = 2**23, 2**11
"""Words that a look at some cases takes: of all rows together, 64 MiB, and of each, 16 KiB."""

WORD_INPUTS = 6
"""2^6 = 64 cases are the bits of a word."""

_IN_WORD = (
    0xAAAAAAAAAAAAAAAA,
    0xCCCCCCCCCCCCCCCC,
    0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00,
    0xFFFF0000FFFF0000,
    0xFFFFFFFF00000000,
)
"""Input k of the first six, in cases 0 to 63: bit i is bit k of i."""


def words(number: int, first: int, count: int) -> Words:
    """Return what input `number` is in the cases of words `first` to first + count - 1.

    Bit i of word w is case 64·w + i, in which the input is bit `number` of the case.
    """
    if number < WORD_INPUTS:
        return np.full(count, _IN_WORD[number], np.uint64)
    index = np.arange(first, first + count, dtype=np.uint64)
    bit = (index >> np.uint64(number - WORD_INPUTS)) & np.uint64(1)
    return np.uint64(0) - bit


def words_of(inputs: int) -> int:
    """Return how many words hold all cases; fewer than six inputs repeat theirs within the one."""
    return 1 << max(inputs - WORD_INPUTS, 0)


def first_case(inputs: int, rows: int, look: Callable[[list[Words], Bits], Words]) -> int | None:
    """Return the first of all 2^inputs cases in which `look` gives a 1, or None.

    `look` is given words of each input, and the bits to evaluate gates on; it returns as many
    words. `rows` are the rows it computes: with more rows, fewer cases are looked at together.
    """
    total = words_of(inputs)
    fitting = max(1, MOST_WORDS // rows)
    count = min(total, MOST_ROW_WORDS, 1 << (fitting.bit_length() - 1))
    bits = Bits(np.full(count, ~np.uint64(0)))
    # Fewer than six inputs repeat their cases within the word: the first one is still the first.
    for first in range(0, total, count):
        found = look([words(number, first, count) for number in range(inputs)], bits)
        if found.any():
            word = int(np.flatnonzero(found)[0])
            value = int(found[word])
            return ((first + word) << WORD_INPUTS) + (value & -value).bit_length() - 1
    return None
