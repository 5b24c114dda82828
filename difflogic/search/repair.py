"""Repair: changes of gates that leave fewer cells wrong.

It first tries the changes that the logits or the gradient favour. If nothing helps and few
cells are wrong, it also keeps changes that make nothing worse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difflogic.circuit.gates import OPS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.hard_simulator import live_parameters
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.changes import Acceptance, Changes
from difflogic.search.walk import OnProgress, SearchProgress
from difflogic.system.array_types import Array, Floats, Int64s, Ints

SHORTLIST = 150
"""Candidates per gradient, from the logits and from the gradient each."""

IMPROVEMENTS = 6
"""Improvements after which a gradient is out of date."""

SIDEWAYS = 0.3
"""Probability of keeping a change on a shortlist that leaves equally many cells wrong."""

DRIFT = 250
"""Random changes to try after a shortlist without improvement."""

FEW_WRONG = 32
"""With at most this many wrong cells, drifting pays; with more, a stuck search ends."""

MORE_GATES = 1.3
"""Largest size of a drifting circuit, in active gates of the first one: each active gate makes
every candidate slower."""

MOST_FRUITLESS = 4
"""Shortlists in a row without improvement after which a search with many wrong cells ends."""

GRADIENT_COST = 40
"""A gradient counts as this many candidates, since it takes about as long."""

Sensitivity = Callable[[Ops, tuple[int, ...]], Floats]
"""Takes ops and the numbers of starts on which they fail. Returns the predicted change of wrong
cells, (parameters, 16), by gate and new op."""


class Repair:
    """A search from one circuit to another that leaves fewer cells wrong: see its `rule`."""

    def __init__(
        self,
        netlist: Netlist,
        logits: Array,
        sensitivity: Sensitivity,
        rule: Acceptance,
        on_progress: OnProgress,
    ) -> None:
        self.ops: Ops = logits.argmax(axis=0).astype(np.uint8)
        self.rule = rule
        self.few_wrong = FEW_WRONG
        self._netlist = netlist
        self._sensitivity = sensitivity
        self._on_progress = on_progress
        self._gap = (logits.max(axis=0) - logits).T
        rule.most_gates = 0.0

    def set_trial(self, trial: Trial) -> None:
        """Continue with the starts of `trial`."""
        self._trial = trial
        self._changes = Changes(trial, self.ops)
        self.rule.wrong = int(trial(self.ops).sum())
        self.rule.most_gates = self.rule.most_gates or MORE_GATES * trial.active_gates

    def run(self) -> None:
        """Change gates until no cell is wrong, the budget is spent, or nothing helps."""
        idle = 0
        while not self.rule.is_over and idle < MOST_FRUITLESS:
            before = self.rule.wrong
            self._descend()
            idle = 0 if self.rule.wrong < before else idle + 1
            if idle and 0 < self.rule.wrong <= self.few_wrong:
                self._escape()
                idle = 0

    def _descend(self) -> None:
        wrong = self._trial(self.ops).sum(axis=0)
        failing = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
        # Slopes multiply from step to step. Where they overflow, predict nothing.
        change = np.nan_to_num(
            self._sensitivity(self.ops, tuple(self._trial.samples[place] for place in failing))
        )
        self.rule.tried += GRADIENT_COST
        self._try(*self._shortlist(change), SIDEWAYS, IMPROVEMENTS)

    def _escape(self) -> None:
        """Escape from a circuit that no change of one gate improves.

        A random walk among the many changes without effect leads out (neutral drift: Miller and
        Smith 2006).
        """
        self._try(self._live_gates(DRIFT), self.rule.rng.integers(0, OPS, DRIFT))

    def _try(
        self, gates: Ints, ops: Array, sideways: float = 1.0, improvements: int = DRIFT
    ) -> int:
        """Try changes of gates; return how many were tried.

        Ends after `improvements` improvements, too.
        """
        rule = self.rule
        before = self.rule.tried
        rule.sideways = sideways
        rule.improvements = improvements
        self._changes.keep(gates.astype(np.int32), ops.astype(np.uint8), rule, self._report)
        self.ops = self._changes.ops
        return rule.tried - before

    def _report(self) -> None:
        self._on_progress(SearchProgress(self.rule.tried, self.rule.most_tried, self.rule.wrong))

    def _live_gates(self, count: int = 0) -> Int64s:
        """Return the gates that matter, or some drawn from them."""
        live = np.flatnonzero(live_parameters(self._netlist, self.ops, self._trial.scene.channels))
        return self.rule.rng.choice(live, count) if count else live

    def _shortlist(self, change: Array) -> tuple[Array, Array]:
        """Return gates and ops, the best ones first, alternately by the gradient and the logits."""
        live = self._live_gates()
        ranked = []
        for table in (change, self._gap):
            cost = table[live]
            cost[np.arange(len(live)), self.ops[live]] = np.inf
            ranked.append(lowest(cost.ravel(), min(SHORTLIST, cost.size - len(live))))
        places = dict.fromkeys(np.stack(ranked, axis=1).ravel().tolist())
        gates, ops = np.divmod(np.array(list(places), np.int64), OPS)
        return live[gates], ops


def lowest(values: Array, count: int) -> Int64s:
    """Return the indices of the `count` lowest values, as a stable sort would order them.

    Sorts no other values.
    """
    if not count:
        return np.empty(0, np.int64)
    bound = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < bound)
    equal = np.flatnonzero(values == bound)[: count - len(below)]
    return np.concatenate([below[np.argsort(values[below], kind="stable")], equal])
