"""Candidates judged by several ranks: each a part of them, where that is sooner."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from difflogic.system.ranks import Ranks

Judged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
Judge = Callable[[Sequence[int], Sequence[int], int, int], Judged]

UNTOLD = np.iinfo(np.int64).max
"""Stands for a candidate that was passed over."""

FEWEST = 8
"""Candidates that are shared at all."""

TIMED = 16
"""Candidates that each rank judges by itself first, to tell how long one takes."""

EXCHANGES = 3
"""Of which the quickest tells what handing over takes."""


class SharedJudging:
    """Lets ranks that all ask the same judge a part each, if judging takes longer than telling.

    That is for rank 0 to decide, by its clock. No result depends on it.
    """

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._judged, self._seconds = 0, 0.0
        self._worth: tuple[float, float] | None = None
        """Seconds of a candidate, and of an exchange, as all ranks know them."""

    def __call__(
        self,
        judge: Judge,
        fits: Callable[[bool], bool],
        gates: Sequence[int],
        ops: Sequence[int],
        limit: int,
        stop: int,
    ) -> Judged:
        """Return what `judge` does of all candidates; by this rank alone, as `Changes.judge` says.

        `fits` tells whether it does so with all values at hand, and hears whether all others do:
        the ranks' ways must not part there. Neither is kept: whoever asks would never be let go of
        but by a collector of cycles, with all of these values.
        """
        size = self._ranks.size
        if size == 1 or len(gates) < FEWEST:
            return judge(gates, ops, limit, stop)
        if self._worth is None and self._judged >= TIMED:
            self._worth = self._find_worth()
        if self._worth is None or not self._pays(len(gates), *self._worth):
            begun = time.perf_counter()
            judged = judge(gates, ops, limit, stop)
            self._seconds += time.perf_counter() - begun
            self._judged += len(judged[0])
            return judged
        # Each takes every so manieth, so that all are about as far when one of them hits.
        own = slice(self._ranks.rank, None, size)
        told = np.full((1 + -(-len(gates) // size), 2), UNTOLD)
        if gates[own]:
            found = np.stack(judge(gates[own], ops[own], limit, stop), axis=1)
            told[1 : 1 + len(found)] = found
        told[0] = fits(True)
        every = self._ranks.all_gather(told)
        fits(bool(every[:, 0].all()))
        wrong, active = every[:, 1:].swapaxes(0, 1).reshape(-1, 2)[: len(gates)].T
        hits = np.flatnonzero(wrong <= stop)
        end = hits[0] + 1 if len(hits) else len(gates)
        return wrong[:end], active[:end]

    def _pays(self, candidates: int, each: float, exchange: float) -> bool:
        return candidates * each * (1 - 1 / self._ranks.size) > exchange

    def _find_worth(self) -> tuple[float, float]:
        """Return what rank 0 measures of a candidate, and of an exchange."""
        exchanges = []
        for _ in range(EXCHANGES):
            self._ranks.barrier()
            begun = time.perf_counter()
            self._ranks.all_gather(np.zeros((FEWEST, 2), np.int64))
            exchanges.append(time.perf_counter() - begun)
        found = np.array([self._seconds / self._judged, min(exchanges)])
        if self._ranks.always_share:
            found[1] = 0.0
        self._ranks.broadcast(found)
        return float(found[0]), float(found[1])
