"""All cases of a few inputs, 64 at a time."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.cases import WORD_INPUTS, words, words_of
from difflogic.circuit.evaluate import Bits
from difflogic.proof.cones import Cone, Place
from difflogic.system.deadline import NEVER, Deadline

CHUNK_WORDS = 2**11
"""Words at a time: 16 KiB per row, few enough for the cache."""
CHUNK_ROWS = 2**23
"""Words at a time over all rows: 64 MiB. Of a circuit with more gates fewer cases are taken."""


def first_difference(
    before: Cone, after: Cone, deadline: Deadline = NEVER
) -> dict[Place, bool] | None:
    """Return the first of all 2^inputs cases in which two outputs differ, if any.

    Raises TimeoutError if `deadline` passes before all were tried.
    """
    places = sorted(before.inputs.keys() | after.inputs.keys())
    total = words_of(len(places))
    fitting = max(1, CHUNK_ROWS // (len(before.rows) + len(after.rows)))
    chunk = min(total, CHUNK_WORDS, 1 << (fitting.bit_length() - 1))
    bits = Bits(np.full(chunk, ~np.uint64(0)))
    # Fewer than six inputs repeat their cases within the word; that finds the same differences.
    for first in range(0, total, chunk):
        given = {place: words(number, first, chunk) for number, place in enumerate(places)}
        ours, theirs = (
            cone.evaluate(given, bits, deadline.check)[cone.output] for cone in (before, after)
        )
        differs = ours ^ theirs
        if differs.any():
            word = int(np.flatnonzero(differs)[0])
            value = int(differs[word])
            case = ((first + word) << WORD_INPUTS) + (value & -value).bit_length() - 1
            return {place: bool(case >> n & 1) for n, place in enumerate(places)}
    return None
