"""All cases of a few inputs, 64 at a time."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from difflogic.logic.proof.cones import Cone, Place

WORD_INPUTS = 6
"""2^6 = 64 cases are the bits of a word."""

CHUNK_WORDS = 2**11
"""Words at a time: 16 KiB per row, few enough for the cache."""
CHUNK_ROWS = 2**23
"""Words at a time over all rows: 64 MiB. Of a circuit with more gates fewer cases are taken."""

_IN_WORD = (
    0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000,
)  # fmt: skip
"""Input k of the first six, in cases 0 to 63: bit i is bit k of i."""


def words(number: int, first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return what input `number` is in the cases of words `first` to first + count - 1."""
    if number < WORD_INPUTS:
        return np.full(count, _IN_WORD[number], np.uint64)
    index = np.arange(first, first + count, dtype=np.uint64)
    bit = (index >> np.uint64(number - WORD_INPUTS)) & np.uint64(1)
    return np.uint64(0) - bit


def first_difference(
    before: Cone, after: Cone, deadline: float = float("inf")
) -> dict[Place, bool] | None:
    """Return the first of all 2^inputs cases in which two outputs differ, if any.

    Raises TimeoutError if `deadline` (of `time.monotonic`) passes before all were tried.
    """
    places = sorted(before.inputs.keys() | after.inputs.keys())
    total = 1 << max(len(places) - WORD_INPUTS, 0)
    fitting = max(1, CHUNK_ROWS // (len(before.gates) + len(after.gates) + 1))
    chunk = min(total, CHUNK_WORDS, 1 << (fitting.bit_length() - 1))
    # Fewer than six inputs repeat their cases within the word; that finds the same differences.
    for first in range(0, total, chunk):
        if time.monotonic() > deadline:
            raise TimeoutError
        given = {place: words(number, first, chunk) for number, place in enumerate(places)}
        given[-1, -1] = np.zeros(chunk, np.uint64)  # so that constants have a shape
        differs = before.evaluate(given)[before.output] ^ after.evaluate(given)[after.output]
        if differs.any():
            word = int(np.flatnonzero(differs)[0])
            value = int(differs[word])
            case = ((first + word) << WORD_INPUTS) + (value & -value).bit_length() - 1
            return {place: bool(case >> n & 1) for n, place in enumerate(places)}
    return None
