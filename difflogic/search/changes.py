"""Judging changes of single gates, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
import numpy.typing as npt

from difflogic.engine.candidates import Batch, Round, Walk
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Ops, Trial

Judged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Wrong bits and active gates, by change."""

AHEAD = 8
"""Changes that are judged between two reports of progress, if each is simulated separately."""


class Changes:
    """Judges changes of single gates of one circuit in a trial, in parallel.

    The numbers are sums of the trial's counts. If the circuit's values do not fit in memory, each
    change is simulated separately.
    """

    def __init__(self, trial: Trial, workers: Workers, ops: Ops) -> None:
        """Changes apply to the circuit with `ops` (parameters,). Enter the `workers` before."""
        self._trial, self._workers, self._ops = trial, workers, ops.copy()
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
        while walk.place < len(ops) and (walk.goes_on or not walk.place):
            first = walk.place
            if self._candidates is None:
                on_progress()
                some = slice(first, first + AHEAD)
                self._walk_ahead(gates[some], ops[some], walk)
                continue
            kept, fits = self._candidates.walk(gates[first:], ops[first:], walk, on_progress)
            for place in first + kept:
                self._ops[gates[place]] = ops[place]
            if not fits:
                self._candidates = None

    def _walk_ahead(self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk) -> None:
        """Judge some changes; continue a walk up to the first that is kept.

        The changes after it have to be judged again.
        """
        # Stop at the first that is certain to be kept.
        stop = walk.wrong - (walk.sideways < 1.0)
        judged = self.judge(gates.tolist(), ops.tolist(), walk.wrong, stop)
        for gate, op, wrong, active in zip(gates.tolist(), ops.tolist(), *judged, strict=False):
            walk.place += 1
            if op != self._ops[gate] and walk.decide(int(wrong), int(active)):
                self.keep([gate], [op])
                return
            if not walk.goes_on:
                return

    def rounds(self, batches: Sequence[Batch], most_gates: int) -> Generator[Round, None, None]:
        """Yield the hits of some batches of changes in turn.

        A hit is the first change of a batch that leaves no bit wrong; it is skipped if it leaves
        more than `most_gates` active gates. Rounds without a hit only count candidates. Close the
        generator before applying a change.
        """
        begun = 0
        if self._candidates is not None:
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
