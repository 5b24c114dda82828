"""Fire masks: which cells take their new state in a step, drawn from random streams.

Training, tests and inspections draw here. Each sample has its own stream, and numbers come step by
step, row by row, cell by cell. Only `difflogic.simulation` differs: in `random_bits.Fire` a mask is
a function of its place, so that threads and browsers need no stream. The probability that a cell
fires is the same, apart from the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from difflogic.system.array_types import Bits

NUMBERS_AT_ONCE = 2**14
"""Random numbers drawn at a time: 128 KB, which stay in cache."""

Masks = Bits


class Firing:
    """Draws the masks of some samples, a few steps at a time or all at once."""

    def __init__(
        self, fire_rate: float, shape: tuple[int, ...], streams: Iterable[np.random.Generator]
    ) -> None:
        """Take the shape of one step's mask and one stream per sample."""
        self._rate = fire_rate
        self._shape = shape
        self._streams = list(streams) if fire_rate < 1 else []

    def draw(self, steps: int) -> Masks | None:
        """Return the masks of the next `steps` steps, (samples, steps, *shape): 1 fires.

        A cell fires if a uniform number is at most the fire rate, in (0, 1]. At fire rate 1 all
        cells fire: nothing is drawn, and the result is None.
        """
        if self._rate == 1:
            return None
        size = steps * math.prod(self._shape)
        masks = np.empty((len(self._streams), size), np.bool_)
        # A buffer that stays in cache; all numbers at once would take 8 times the masks' memory.
        numbers = np.empty(min(NUMBERS_AT_ONCE, size))
        for mask, rng in zip(masks, self._streams, strict=True):
            for first in range(0, size, len(numbers)):
                piece = mask[first : first + len(numbers)]
                uniform = rng.random(out=numbers[: len(piece)])
                np.less_equal(uniform, self._rate, out=piece)
        return masks.view(np.uint8).reshape(-1, steps, *self._shape)
