"""Judging candidates on several ranks, each a part of them, if that is faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from difflogic.system.ranks import Ranks

Judged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
Judge = Callable[[Sequence[int], Sequence[int], int, int], Judged]

SKIPPED = np.iinfo(np.int64).max
"""Marks a candidate that was not judged."""

FEWEST = 8
"""Fewer candidates than this are not shared."""

TIMED = 16
"""Candidates that each rank first judges alone, to measure how long one takes."""

EXCHANGES = 3
"""Exchanges that are timed; the fastest counts."""


class SharedJudging:
    """Lets each rank judge a part of the candidates, if judging takes longer than exchanging.

    Rank 0 decides that by its clock. No result depends on it.
    """

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._judged, self._seconds = 0, 0.0
        self._costs: tuple[float, float] | None = None
        """Seconds per candidate and per exchange, equal on all ranks; None until measured."""

    def __call__(
        self,
        judge: Judge,
        fits: Callable[[bool], bool],
        gates: Sequence[int],
        ops: Sequence[int],
        limit: int,
        stop: int,
    ) -> Judged:
        """Return what `judge`, on this rank alone, would return for all candidates.

        See `Changes.judge`. `fits` returns whether this rank still holds all values in memory; it
        is passed whether all ranks do, since they must not diverge. Neither callback is stored: a
        reference cycle would keep the caller's large buffers alive.
        """
        size = self._ranks.size
        if size == 1 or len(gates) < FEWEST:
            return judge(gates, ops, limit, stop)
        if self._costs is None and self._judged >= TIMED:
            self._costs = self._measure_costs()
        if self._costs is None or not self._pays(len(gates), *self._costs):
            begun = time.perf_counter()
            judged = judge(gates, ops, limit, stop)
            self._seconds += time.perf_counter() - begun
            self._judged += len(judged[0])
            return judged
        # Interleaved, so that all ranks are about equally far when one finds a hit.
        own = slice(self._ranks.rank, None, size)
        results = np.full((1 + -(-len(gates) // size), 2), SKIPPED)
        if gates[own]:
            found = np.stack(judge(gates[own], ops[own], limit, stop), axis=1)
            results[1 : 1 + len(found)] = found
        results[0] = fits(True)
        every = self._ranks.all_gather(results)
        fits(bool(every[:, 0].all()))
        wrong, active = every[:, 1:].swapaxes(0, 1).reshape(-1, 2)[: len(gates)].T
        hits = np.flatnonzero(wrong <= stop)
        end = hits[0] + 1 if len(hits) else len(gates)
        return wrong[:end], active[:end]

    def _pays(self, candidates: int, each: float, exchange: float) -> bool:
        return candidates * each * (1 - 1 / self._ranks.size) > exchange

    def _measure_costs(self) -> tuple[float, float]:
        """Return rank 0's seconds per candidate and per exchange."""
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
