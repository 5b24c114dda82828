"""A local search that changes one gate at a time, to leave fewer cells wrong.

It first tries the changes that the logits or the gradient call promising. If nothing helps and few
cells are wrong, it also keeps changes that make nothing worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import OPS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.candidates import Walk
from difflogic.engine.hard import live_parameters
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.changes import Changes

SHORTLIST = 150
"""Candidates per gradient, from the logits and from the gradient each."""

IMPROVEMENTS = 6
"""Improvements after which a gradient is out of date."""

SIDEWAYS = 0.3
"""Probability of keeping a change on a shortlist that leaves equally many cells wrong."""

DRIFT = 250
"""Random changes that are tried after a shortlist without improvement."""

FEW_WRONG = 32
"""With at most this many wrong cells, drifting pays; with more, a stuck search ends."""

MORE_GATES = 1.3
"""Largest size of a drifting circuit, in active gates of the first one: each active gate makes
every candidate slower."""

PATIENCE = 4
"""Shortlists in a row without improvement after which a search with many wrong cells ends."""

GRADIENT_COST = 40
"""A gradient counts as this many candidates, which take about as long."""


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come."""

    candidates: int
    """Circuits that were tried."""
    budget: int
    """Largest number of circuits to try."""
    wrong: int
    """Wrong cells of the current circuit, on the starts that the search uses."""


OnProgress = Callable[[SearchProgress], None]


Sensitivity = Callable[[Ops, tuple[int, ...]], npt.NDArray[np.floating]]
"""From ops and the numbers of starts on which they fail to the predicted change of wrong cells,
(parameters, 16), by gate and new op."""


class Search:
    """The current circuit, `ops`, with its number of `wrong` cells; it changes gate by gate."""

    def __init__(
        self,
        netlist: Netlist,
        logits: npt.NDArray,
        sensitivity: Sensitivity,
        workers: Workers,
        rng: np.random.Generator,
        budget: int,
        on_progress: OnProgress,
    ) -> None:
        self.ops: Ops = logits.argmax(axis=0).astype(np.uint8)
        self.wrong = 0
        self.candidates = 0
        self.few_wrong = FEW_WRONG
        self._netlist, self._sensitivity = netlist, sensitivity
        self._workers = workers
        self._rng, self._budget, self._on_progress = rng, budget, on_progress
        self._gap = (logits.max(axis=0) - logits).T
        self._most_gates = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return self.candidates >= self._budget

    def set_trial(self, trial: Trial) -> None:
        """Continue with these starts."""
        self._trial = trial
        self._changes = Changes(trial, self._workers, self.ops)
        self.wrong = int(trial(self.ops).sum())
        self._most_gates = self._most_gates or MORE_GATES * trial.active_gates

    def run(self) -> None:
        """Change gates until no cell is wrong, the budget is spent, or nothing helps."""
        idle = 0
        while self.wrong and not self.is_over and idle < PATIENCE:
            before = self.wrong
            self._descend()
            idle = 0 if self.wrong < before else idle + 1
            if idle and 0 < self.wrong <= self.few_wrong:
                self._escape()
                idle = 0

    def _descend(self) -> None:
        """Try the changes that gradient and logits call promising."""
        found = self._trial(self.ops).sum(axis=0)
        failing = np.argsort(-found, kind="stable")[: np.count_nonzero(found)]
        # Slopes multiply from step to step: where they leave the range there is no prediction.
        change = np.nan_to_num(
            self._sensitivity(self.ops, tuple(self._trial.samples[place] for place in failing))
        )
        self.candidates += GRADIENT_COST
        self._try(list(self._shortlist(change)), SIDEWAYS, IMPROVEMENTS)

    def _escape(self) -> None:
        """Escape from a circuit that no change of one gate improves.

        A random walk among the many changes without effect leads out (neutral drift: Miller and
        Smith 2006).
        """
        gates = self._rng.choice(np.flatnonzero(self._live()), DRIFT)
        ops = self._rng.integers(0, OPS, DRIFT)
        self._try(list(zip(gates.tolist(), ops.tolist(), strict=True)), 1.0, DRIFT)

    def _try(self, changes: list[tuple[int, int]], sideways: float, improvements: int) -> None:
        """Keep each change that leaves fewer cells wrong, or as many with probability `sideways`.

        Ends after `improvements` improvements, if nothing is wrong, or if the budget is spent.
        """
        if not changes:
            return
        gates, ops = (np.array(each) for each in zip(*changes, strict=True))
        before = self._rng.bit_generator.state
        walk = Walk(
            self.wrong,
            improvements,
            self._budget,
            self._most_gates,
            sideways,
            self._rng.random(len(changes)),
            self.candidates,
        )

        def on_progress() -> None:
            self._on_progress(SearchProgress(walk.tried, self._budget, walk.wrong))

        self._changes.walk(gates.astype(np.int32), ops.astype(np.uint8), walk, on_progress)
        # As if each number had been drawn only when needed.
        self._rng.bit_generator.state = before
        self._rng.random(walk.drawn)
        self.ops, self.wrong, self.candidates = self._changes.ops.copy(), walk.wrong, walk.tried

    def _live(self) -> npt.NDArray[np.bool_]:
        return live_parameters(self._netlist, self.ops, self._trial.scene.channels)

    def _shortlist(self, change: npt.NDArray) -> Iterator[tuple[int, int]]:
        """Yield (gate, op), the best ones first, alternately by the gradient and by the logits."""
        live = np.flatnonzero(self._live())
        rows = np.arange(len(live))
        ranked = []
        for table in (change, self._gap):
            cost = table[live]
            cost[rows, self.ops[live]] = np.inf
            others = cost.size - len(live)
            ranked.append(lowest(cost.ravel(), min(SHORTLIST, others)).tolist())
        seen: set[int] = set()
        for pair in zip(*ranked, strict=True):
            for place in pair:
                if place not in seen:
                    seen.add(place)
                    gate, op = divmod(place, OPS)
                    yield int(live[gate]), op


def lowest(values: npt.NDArray, count: int) -> npt.NDArray[np.int64]:
    """Return the indices of the `count` least values, ascending; of equal ones the first.

    This is the beginning of a stable sort, without sorting the rest.
    """
    if not count:
        return np.empty(0, np.int64)
    bound = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < bound)
    equal = np.flatnonzero(values == bound)[: count - len(below)]
    return np.concatenate([below[np.argsort(values[below], kind="stable")], equal])
