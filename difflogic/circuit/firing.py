"""Which cells fire in a step, drawn from streams: a cell that does takes its new state.

All that trains, tests and inspects draws here, each sample from a stream of its own, number after
number: step by step, row by row, cell by cell. Only `difflogic.simulation` has another way, in
`random_bits.Fire`, where a mask is a function of its place, so that threads and browsers need no
stream. A cell fires in one step with the same probability either way, apart from the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.system.streams import Purpose, stream

NUMBERS_AT_ONCE = 2**14
"""Random numbers that are drawn at a time: 128 KB, which stay in cache."""

Masks = npt.NDArray[np.uint8]


class Firing:
    """Draws the masks of some samples, for a few steps at a time, or for all of them."""

    def __init__(
        self, fire_rate: float, shape: tuple[int, ...], streams: Sequence[np.random.Generator]
    ) -> None:
        """Draw masks of `shape` for each step, one after the other from each sample's stream."""
        self._rate, self._shape, self._streams = fire_rate, shape, streams

    def draw(self, steps: int) -> Masks | None:
        """Return the masks of the next `steps` steps, (samples, steps, *shape): 1 fires.

        A cell fires where a uniform number is at most the fire rate, in (0, 1]. None at fire rate
        1, where every cell fires, and nothing is drawn.
        """
        if self._rate == 1:
            return None
        size = steps * math.prod(self._shape)
        masks = np.empty((len(self._streams), size), np.bool_)
        # Through a buffer that stays in cache, not through 64 times the memory of the masks.
        numbers = np.empty(min(NUMBERS_AT_ONCE, size))
        for mask, rng in zip(masks, self._streams, strict=True):
            for first in range(0, size, len(numbers)):
                piece = mask[first : first + len(numbers)]
                uniform = rng.random(out=numbers[: len(piece)])
                np.less_equal(uniform, self._rate, out=piece)
        return masks.view(np.uint8).reshape(-1, steps, *self._shape)


def firing(
    fire_rate: float,
    height: int,
    width: int,
    seed: int,
    purpose: Purpose,
    epoch: int,
    samples: Sequence[int],
) -> Firing:
    """Return what draws masks (height, width) for samples by their numbers."""
    drawn = samples if fire_rate < 1 else ()
    streams = [stream(seed, purpose, epoch, sample) for sample in drawn]
    return Firing(fire_rate, (height, width), streams)


def draw_masks(
    seed: int,
    epoch: int,
    batch: int,
    steps: int,
    height: int,
    width: int,
    fire_rate: float,
    purpose: Purpose = Purpose.MASK,
    first: int = 0,
) -> Masks | None:
    """Draw all masks of an epoch, (batch, steps, height, width), from sample `first` on.

    All channels of a cell share its mask. Returns None at fire rate 1.
    """
    samples = range(first, first + batch)
    return firing(fire_rate, height, width, seed, purpose, epoch, samples).draw(steps)
