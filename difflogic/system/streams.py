"""Random streams that depend only on their names, not on which worker draws from them or when.

Every random number of a run comes from a stream named by (seed, purpose, epoch, sample). Data and
masks are therefore the same with any number of workers and in any order of work.

There is one other system, `simulation.random_bits`, whose bits are a function of their place: for
grids that threads and browsers share. NumPy's `default_rng` with a fixed seed only picks which of
several right ways to try first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from difflogic.system.array_types import Bits, Float64s
from difflogic.system.elementary import logarithm


class Purpose(IntEnum):
    """The use of a stream. The numbers determine every run's results: never change one."""

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
    SEARCH = 11
    LATER_STEP = 12
    POLISH = 13
    POOL = 14
    FIRST_LOGITS = 15
    EVALUATION_NOISE = 16


def stream(seed: int, purpose: Purpose, epoch: int = 0, sample: int = 0) -> np.random.Generator:
    """Return the generator of a stream. All four arguments are integers in [0, 2**64).

    Philox is a block cipher over a counter of four words. Seed and purpose are its key, sample and
    epoch the two upper words of the counter. A stream counts 2**128 blocks in the two lower words,
    so it never runs into another one.
    Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
    """
    key = np.array([seed, purpose], dtype=np.uint64)
    counter = np.array([0, 0, sample, epoch], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def sample_streams(
    seed: int, purpose: Purpose, epoch: int, samples: Iterable[int]
) -> Iterator[np.random.Generator]:
    """Yield the streams of an epoch's samples, given by number."""
    return (stream(seed, purpose, epoch, sample) for sample in samples)


def normals(rng: np.random.Generator, shape: tuple[int, ...]) -> Float64s:
    """Draw numbers from the standard normal distribution; NumPy's have other bits on some machines.

    Source: Marsaglia and Bray 1964, the polar method.
    """
    found: Float64s = np.empty(0)
    while len(found) < math.prod(shape):
        x, y = 2 * rng.random((2, math.prod(shape))) - 1
        s = x * x + y * y
        inside = (s > 0) & (s < 1)
        scale = np.sqrt(-2 * logarithm(s[inside]) / s[inside])
        found = np.concatenate([found, x[inside] * scale])
    return found[: math.prod(shape)].reshape(shape)


def first_bytes(
    seed: int, purpose: Purpose, epochs: Sequence[int], samples: Sequence[int], count: int
) -> Bits:
    """Return the first bytes of many streams, shape (epochs, samples, count).

    A `stream` makes its small integers from these bytes, in order. One generator draws them all,
    since creating a generator takes ten times as long as setting its counter.
    """
    generator = np.random.Philox(key=np.array([seed, purpose], np.uint64))
    state: Any = generator.state
    state["buffer_pos"] = 4  # discard the rest of the previous block
    drawn = np.empty((len(epochs), len(samples), -(-count // 8)), "<u8")
    for row, epoch in zip(drawn, epochs, strict=True):
        for words, sample in zip(row, samples, strict=True):
            state["state"]["counter"] = np.array([0, 0, sample, epoch], np.uint64)
            generator.state = state
            words[:] = generator.random_raw(len(words))
    return drawn.view(np.uint8)[..., :count]
