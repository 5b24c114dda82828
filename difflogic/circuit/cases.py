"""All cases of a few inputs as words: every bit is a case of its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MOST_INPUTS = 20
"""Inputs up to which proofs try all cases: a million, some milliseconds for a usual output."""

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


def words(number: int, first: int, count: int) -> npt.NDArray[np.uint64]:
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
