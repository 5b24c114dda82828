"""Random streams that depend on what they are for, never on who draws from them or when.

Every number that a run draws comes from a stream named by (seed, purpose, epoch, sample). Data
and masks are therefore the same at any number of workers and in any order of work.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

_FACTORS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = np.array([0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B], np.uint64)
_ROUNDS = 10


class Purpose(IntEnum):
    """What a stream is for. The numbers are part of every run's results: never change one."""

    WIRING = 0
    START = 1
    MASK = 2
    HELD_OUT_START = 3
    HELD_OUT_MASK = 4
    CHECK_START = 5
    CHECK_MASK = 6
    EVALUATION_START = 7
    EVALUATION_MASK = 8
    EVALUATION_DAMAGE = 9
    HARDENING = 10
    SEARCH = 11
    LATER_STEP = 12
    POLISH = 13
    POOL = 14
    FIRST_LOGITS = 15


def stream(seed: int, purpose: Purpose, epoch: int = 0, sample: int = 0) -> np.random.Generator:
    """Return the generator of one stream; all four arguments are integers in [0, 2**64).

    Philox is a block cipher over a counter of four words: seed and purpose are its key, sample
    and epoch the two upper words. A stream counts in the two lower words, 2**128 blocks, so no
    stream ever runs into another.
    Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
    """
    key = np.array([seed, purpose], dtype=np.uint64)
    counter = np.array([0, 0, sample, epoch], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def first_bytes(
    seed: int, purpose: Purpose, epochs: Sequence[int], samples: Sequence[int], count: int
) -> npt.NDArray[np.uint8]:
    """Return the first bytes of many streams, (epochs, samples, count), all drawn at once.

    They are those that each `stream` takes its small integers from, in order. Making a generator
    takes longer than to draw some hundred numbers from it.
    """
    blocks = -(-count // 32)
    shape = (len(epochs), len(samples), blocks)
    counter = np.zeros((4, *shape), np.uint64)
    counter[0] = np.arange(1, blocks + 1)  # NumPy counts before it draws
    counter[2] = np.array(samples, np.uint64)[:, None]
    counter[3] = np.array(epochs, np.uint64)[:, None, None]
    key = np.array([seed, purpose], np.uint64)
    for _ in range(_ROUNDS):
        (high, low), (other_high, other_low) = (
            _product(counter[2 * i], factor) for i, factor in enumerate(_FACTORS)
        )
        counter = np.stack(
            [other_high ^ counter[1] ^ key[0], other_low, high ^ counter[3] ^ key[1], low]
        )
        key = key + _WEYL
    drawn = np.ascontiguousarray(np.moveaxis(counter, 0, -1)).astype("<u8", copy=False)
    return drawn.view(np.uint8).reshape(*shape[:2], -1)[..., :count]


def _product(numbers: Words, factor: int) -> tuple[Words, Words]:
    """Return the upper and lower words of the products with a factor."""
    half, mask = np.uint64(32), np.uint64(2**32 - 1)
    a, b = numbers >> half, numbers & mask
    c, d = np.uint64(factor >> 32), np.uint64(factor % 2**32)
    middle = (b * d >> half) + (a * d & mask) + (b * c & mask)
    return a * c + (a * d >> half) + (b * c >> half) + (middle >> half), numbers * np.uint64(factor)
