"""Random streams that depend only on their purpose, not on which worker draws from them or when.

Every number that a run draws comes from a stream named by (seed, purpose, epoch, sample). Data
and masks are therefore the same at any number of workers and in any order of work.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt


class Purpose(IntEnum):
    """What a stream is for. The numbers determine every run's results: never change one."""

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

    These are the bytes from which each `stream` takes its small integers, in order. One generator
    draws them all: creating one takes ten times as long as setting its counter.
    """
    generator = np.random.Philox(key=np.array([seed, purpose], np.uint64))
    state: Any = generator.state
    state["buffer_pos"] = 4  # nothing is left of the block before
    drawn = np.empty((len(epochs), len(samples), -(-count // 8)), "<u8")
    for row, epoch in zip(drawn, epochs, strict=True):
        for words, sample in zip(row, samples, strict=True):
            state["state"]["counter"] = np.array([0, 0, sample, epoch], np.uint64)
            generator.state = state
            words[:] = generator.random_raw(len(words))
    return drawn.view(np.uint8)[..., :count]
