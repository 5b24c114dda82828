"""Changes of single gates of one circuit, judged in a trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard.candidates import Acceptance, Candidates, Found
from difflogic.evaluation.trial import Ops, Trial


class Changes:
    """A circuit, and what its changes do in a trial.

    Numbers are sums over the trial. If the circuit's values do not fit in memory, each change is
    simulated separately.
    """

    def __init__(self, trial: Trial, ops: Ops) -> None:
        """Changes apply to the circuit with `ops` (parameters,), which nobody may alter."""
        self.trial, self.ops = trial, ops
        candidates = trial.candidates()
        fits = candidates is not None and candidates.load(ops)
        self._candidates: Candidates | None = candidates if fits else None

    def go_to(self, ops: Ops) -> None:
        """Switch to another circuit."""
        gates = np.flatnonzero(ops != self.ops).astype(np.int32)
        self.ops = ops
        if self._candidates is not None and not self._candidates.change(gates, ops[gates]):
            self._candidates = None

    def walk(
        self,
        gates: npt.NDArray[np.int32],
        ops: Ops,
        rule: Acceptance,
        on_progress: Callable[[], None],
    ) -> None:
        """Try changes in turn, `ops[i]` for gate `gates[i]`; go to those that a rule keeps.

        Tries at least one, even if the rule ends it. `on_progress` is called now and then.
        """
        place = 0
        while place < len(ops) and (rule.goes_on or not place):
            if self._candidates is None:
                on_progress()
                if ops[place] != self.ops[gates[place]]:
                    self.try_alone(self.with_change(gates[place], ops[place]), rule)
                place += 1
                continue
            some = gates[place:], ops[place:]
            kept, passed, fits = self._candidates.walk(*some, rule, on_progress)
            self.ops = self.with_change(*(each[kept] for each in some))
            place += passed
            if not fits:
                self._candidates = None

    def try_alone(self, ops: Ops, rule: Acceptance, any_size: bool = False) -> bool:
        """Simulate another circuit; go to it, and return true, if the rule keeps it."""
        wrong = int(self.trial(ops).sum())
        kept = rule.decide(wrong, 0 if any_size else self.trial.active_gates)
        if kept:
            self.go_to(ops)
        return kept

    def find(self, gates: npt.NDArray[np.integer], ops: npt.NDArray[Any]) -> Found:
        """Return the first of some changes that leaves no bit wrong."""
        if self._candidates is not None:
            found = self._candidates.find(gates, ops)
            if found is not None:
                return found
            self._candidates = None
        for place in range(len(ops)):
            if not self.trial(self.with_change(gates[place], ops[place])).any():
                return Found(place + 1, place, self.trial.active_gates)
        return Found(len(ops))

    def with_change(self, gates: npt.NDArray[np.integer], ops: npt.NDArray[Any]) -> Ops:
        """Return the circuit's ops with other `ops` for `gates`."""
        changed = self.ops.copy()
        changed[gates] = ops
        return changed
