"""Judging changes of single gates, in parallel, and shared by ranks if that is faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

import numpy as np
import numpy.typing as npt

from difflogic.engine.candidates import Batch, Round, Walk
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Ops, Trial
from difflogic.system.ranks import ALONE, Ranks

Judged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Wrong bits and active gates, by change."""

SKIPPED = np.iinfo(np.int64).max
"""Marks a change that was not judged."""

FEWEST = 8
"""Fewer changes than this are not shared."""

TIMED = 16
"""Changes that each rank first judges alone, to measure how long one takes."""

EXCHANGES = 3
"""Exchanges that are timed; the fastest counts."""

AT_ONCE = 64
"""Changes that ranks judge together between two reports of progress."""

AHEAD = 8
"""The same if each change is simulated separately."""

PATIENCE = 32
"""Changes in a row that are not kept before ranks judge the following ones together."""


class Changes:
    """Judges changes of single gates of one circuit in a trial, in parallel.

    The numbers are sums of the trial's counts. If the circuit's values do not fit in memory, each
    change is simulated separately. Several ranks, which all have the same circuit and changes,
    judge a part each if that takes less time than exchanging results; rank 0 decides by its clock.
    """

    def __init__(self, trial: Trial, workers: Workers, ops: Ops, ranks: Ranks = ALONE) -> None:
        """Changes apply to the circuit with `ops` (parameters,). Enter the `workers` before."""
        self._trial, self._workers, self._ops = trial, workers, ops.copy()
        self._ranks = ranks
        self._judged, self._seconds = 0, 0.0
        self._costs: tuple[float, float] | None = None
        """Seconds per change and per exchange, equal on all ranks; None until measured."""
        candidates = trial.candidates(workers)
        fits = candidates is not None and candidates.differ_from(self._ops)
        self._candidates = candidates if fits else None

    @property
    def ops(self) -> Ops:
        """The current circuit's ops, shape (parameters,)."""
        return self._ops

    def keep(self, gates: Sequence[int], ops: Sequence[int]) -> None:
        """Apply some changes; later ones build on them."""
        self._ops[np.asarray(gates, np.int64)] = ops
        if self._candidates is not None and not self._candidates.take_over(gates, ops):
            self._candidates = None

    def go_to(self, ops: Ops) -> None:
        """Switch to another circuit."""
        gates = np.flatnonzero(ops != self._ops)
        if len(gates):
            self.keep(gates.tolist(), ops[gates].tolist())

    def walk(
        self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk, on_progress: Callable[[], None]
    ) -> None:
        """Continue a walk through changes, `ops[i]` for gate `gates[i]`; apply those it keeps.

        At least one is tried, even if the budget is spent. `on_progress` is called now and then.
        The result does not depend on how many are judged at a time.
        """
        # All ranks take the same branches, however many workers each has.
        idle, alone = 0, self._ranks.size == 1
        patience = 0 if self._ranks.always_share else PATIENCE
        while walk.place < len(ops) and (walk.goes_on or not walk.place):
            first = walk.place
            if self._candidates is None or (not alone and idle >= patience):
                on_progress()
                most = (AHEAD if self._candidates is None else AT_ONCE) * self._ranks.size
                some = slice(first, first + most)
                idle = 0 if self._walk_ahead(gates[some], ops[some], walk) else idle
                continue
            some = slice(first, None if alone else first + patience - idle)
            kept, fits = self._candidates.walk(gates[some], ops[some], walk, on_progress)
            for place in first + kept:
                self._ops[gates[place]] = ops[place]
            idle = walk.place - (first + int(kept[-1]) + 1 if len(kept) else first - idle)
            if not fits:
                self._candidates = None

    def _walk_ahead(self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk) -> bool:
        """Judge some changes together; continue a walk up to the first that is kept.

        Returns whether one was kept. The changes after it have to be judged again.
        """
        # Stop at the first that is certain to be kept.
        stop = walk.wrong - (walk.sideways < 1.0)
        judged = self.judge(gates.tolist(), ops.tolist(), walk.wrong, stop)
        for gate, op, wrong, active in zip(gates.tolist(), ops.tolist(), *judged, strict=False):
            walk.place += 1
            if op != self._ops[gate] and walk.decide(int(wrong), int(active)):
                self.keep([gate], [op])
                return True
            if not walk.goes_on:
                break
        return False

    def rounds(self, batches: Sequence[Batch], most_gates: int) -> Generator[Round, None, None]:
        """Yield the hits of some batches of changes in turn.

        A hit is the first change of a batch that leaves no bit wrong; it is skipped if it leaves
        more than `most_gates` active gates. Rounds without a hit only count candidates. Close the
        generator before applying a change.
        """
        begun = 0
        if self._candidates is not None and self._ranks.size == 1:
            begun = yield from self._candidates.rounds(batches, most_gates)
            if begun < len(batches):
                self._candidates = None
        for number, (gates, ops) in list(enumerate(batches))[begun:]:
            wrong, active = self.judge(gates.tolist(), ops.tolist(), limit=0, stop=0)
            last = len(wrong) - 1
            if wrong[last] or active[last] > most_gates:
                yield Round(number, len(wrong))
            else:
                yield Round(number, len(wrong), last, int(active[last]))

    def judge(self, gates: Sequence[int], ops: Sequence[int], limit: int, stop: int = -1) -> Judged:
        """Return the wrong bits and the active gates with `ops[i]` for gate `gates[i]`, for each i.

        Active gates are those that the counted channels ever depend on. A number of wrong
        bits above `limit` only means more than `limit`, and the active gates are then not known.
        The results end with the first change that leaves at most `stop` bits wrong.
        """
        if self._ranks.size == 1 or len(gates) < FEWEST:
            return self._judge_alone(gates, ops, limit, stop)
        if self._costs is None and self._judged >= TIMED:
            self._costs = self._measure_costs()
        if self._costs is not None:
            each, exchange = self._costs
            if len(gates) * each * (1 - 1 / self._ranks.size) > exchange:
                return self._judge_together(gates, ops, limit, stop)
        begun = time.perf_counter()
        judged = self._judge_alone(gates, ops, limit, stop)
        self._seconds += time.perf_counter() - begun
        self._judged += len(judged[0])
        return judged

    def _judge_together(
        self, gates: Sequence[int], ops: Sequence[int], limit: int, stop: int
    ) -> Judged:
        """Judge a part of the changes, and learn the results of the other ranks."""
        size = self._ranks.size
        # Interleaved, so that all ranks are about equally far when one finds a hit.
        own = slice(self._ranks.rank, None, size)
        results = np.full((1 + -(-len(gates) // size), 2), SKIPPED)
        if gates[own]:
            found = np.stack(self._judge_alone(gates[own], ops[own], limit, stop), axis=1)
            results[1 : 1 + len(found)] = found
        results[0] = self._candidates is not None
        every = self._ranks.all_gather(results)
        # Values that fit on some ranks only are dropped: the ranks must take the same branches.
        if not every[:, 0].all():
            self._candidates = None
        wrong, active = every[:, 1:].swapaxes(0, 1).reshape(-1, 2)[: len(gates)].T
        hits = np.flatnonzero(wrong <= stop)
        end = hits[0] + 1 if len(hits) else len(gates)
        return wrong[:end], active[:end]

    def _measure_costs(self) -> tuple[float, float]:
        """Return rank 0's seconds per change and per exchange."""
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

    def _judge_alone(
        self, gates: Sequence[int], ops: Sequence[int], limit: int, stop: int
    ) -> Judged:
        if self._candidates is not None:
            judged = self._candidates.judge(gates, ops, limit, stop)
            if judged is not None:
                return judged
            self._candidates = None
        wrong: list[int] = []
        active: list[int] = []
        for gate, op in zip(gates, ops, strict=True):
            changed = self._ops.copy()
            changed[gate] = op
            wrong.append(int(self._trial(changed).sum()))
            active.append(self._trial.active_gates)
            if wrong[-1] <= stop:
                break
        return np.array(wrong), np.array(active)
