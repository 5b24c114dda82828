"""The gradients of several ranks, added in the order of the samples, whichever rank is first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.rollout import Engine, add_slots
from difflogic.system.callbacks import ignore
from difflogic.system.ranks import Ranks

Array = npt.NDArray[Any]


def exchanged_bytes(config: Config, parameters: int) -> int:
    """Return the bytes that ranks exchange per step: four sums per gate, and the losses."""
    precision = np.dtype(config.training.precision)
    return 4 * parameters * precision.itemsize + 8 * config.training.batch


def split_exchanged(data: npt.NDArray[np.uint8], like: Array) -> tuple[Array, Array]:
    """Return views of exchanged bytes: the sums, with the shape of `like`, and the losses."""
    sums, losses = np.split(data, [like.nbytes])
    return sums.view(like.dtype).reshape(like.shape), losses.view(np.float64)


class OrderedSum:
    """Adds this rank's slots to the sum of the ranks before it. Rank 0 adds at once."""

    def __init__(self, ranks: Ranks, total: Array) -> None:
        """`total` (parameters, 4) is the same on all ranks, before and after."""
        self._ranks, self._total = ranks, total
        self._waiting: list[Array] = []
        self._last: Engine | None = None

    def add(self, engine: Engine, last: bool = False) -> None:
        """Add an engine's slots. `last` says that it will not run again before `combine`."""
        if self._ranks.leads:
            engine.reduce(self._total)
        elif last:
            self._last = engine
        else:
            self._waiting.append(engine.slots())

    def combine(self, data: Array | None = None, also: Callable[[], None] = ignore) -> None:
        """Add this rank's slots in its turn, and wait until all ranks have added theirs.

        `data` is what the ranks exchange: the total alone, or a buffer that holds it and what
        `also` adds.
        """
        shared = self._total if data is None else data
        self._ranks.add_in_turn(shared.reshape(-1).view(np.uint8), lambda: self._add(also))

    def _add(self, also: Callable[[], None]) -> None:
        for slots in self._waiting:
            add_slots(slots, self._total)
        if self._last is not None:
            self._last.reduce(self._total)
        also()
