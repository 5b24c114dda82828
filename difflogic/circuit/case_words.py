"""All cases of a few inputs, 64 to a word: each bit is one case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic
from difflogic.system.array_types import Int64s, Words

MOST_INPUTS = 20
"""Proofs try all cases of up to this many inputs: a million cases, a few milliseconds."""

MOST_WORDS = 2**23
MOST_ROW_WORDS = 2**11
"""Words evaluated at a time: of all rows together (64 MiB), and of one row (16 KiB)."""

BYTES_AT_ONCE = 2**27
"""Bytes of gates' values to compute at once, of eight cases each."""

WORD_INPUTS = 6
"""The 64 bits of a word are the 2^6 cases of six inputs."""

_IN_WORD = (
    0xAAAAAAAAAAAAAAAA,
    0xCCCCCCCCCCCCCCCC,
    0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00,
    0xFFFF0000FFFF0000,
    0xFFFFFFFF00000000,
)
"""The first six inputs in cases 0 to 63: bit i of word k is bit k of i."""


def words(number: int, first: int, count: int) -> Words:
    """Return the values of input `number` in the cases of words `first` to first + count - 1.

    Bit i of word w is case 64·w + i; the input's value is bit `number` of the case.
    """
    if number < WORD_INPUTS:
        return np.full(count, _IN_WORD[number], np.uint64)
    index = np.arange(first, first + count, dtype=np.uint64)
    bit = (index >> np.uint64(number - WORD_INPUTS)) & np.uint64(1)
    return np.uint64(0) - bit


def words_of(inputs: int) -> int:
    """Return the number of words for all cases. Fewer than six inputs repeat within one word."""
    return 1 << max(inputs - WORD_INPUTS, 0)


def first_case(
    inputs: int, rows: int, look: Callable[[list[Words], BitLogic], Words]
) -> int | None:
    """Return the first of all 2^inputs cases in which `look` gives a 1, or None.

    `look` gets the words of each input and the algebra to evaluate gates on, and returns words
    of the same shape. It computes `rows` rows; more rows mean fewer cases at a time.
    """
    total = words_of(inputs)
    fitting = max(1, MOST_WORDS // rows)
    count = min(total, MOST_ROW_WORDS, 1 << (fitting.bit_length() - 1))
    bits = BitLogic(np.full(count, ~np.uint64(0)))
    # Cases of fewer than six inputs repeat within the word, but the first one found is right.
    for first in range(0, total, count):
        found = look([words(number, first, count) for number in range(inputs)], bits)
        if found.any():
            word = int(np.flatnonzero(found)[0])
            value = int(found[word])
            return ((first + word) << WORD_INPUTS) + (value & -value).bit_length() - 1
    return None


def next_states(circuit: Circuit, rows: Sequence[int], channels: Sequence[int]) -> Int64s:
    """Return the next state in all cases of the inputs `rows`, if all others are 0.

    Bit i of a case is the input `rows[i]`, and bit i of its state that of `channels[i]`.
    """

    def given(cases: Int64s) -> Iterator[tuple[int, Int64s]]:
        for place, row in enumerate(rows):
            yield row, cases >> place & 1

    return tabulated(circuit, 1 << len(rows), given, channels)


def tabulated(
    circuit: Circuit,
    total: int,
    given: Callable[[Int64s], Iterable[tuple[int, Int64s]]],
    channels: Sequence[int],
) -> Int64s:
    """Return the next state in the cases numbered from 0 to total - 1.

    `given` yields the inputs' rows that are not 0, each with its bits in some cases. Bit i of a
    state is that of `channels[i]`.
    """
    found = np.empty(total, np.int64)
    some = 8 * max(1, BYTES_AT_ONCE // circuit.rows)
    for start in range(0, total, some):
        cases = np.arange(start, min(start + some, total))
        values = np.zeros((circuit.inputs, -(-len(cases) // 8)), np.uint8)
        for row, bits in given(cases):
            values[row] = np.packbits(bits)
        after = circuit.next_state(values)[list(channels)]
        following = np.unpackbits(after, axis=1, count=len(cases))
        found[start : start + some] = (1 << np.arange(len(channels))) @ following
    return found
