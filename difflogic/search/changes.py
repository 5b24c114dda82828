"""Changes of single gates of one circuit, in a trial: what they do, and which are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from difflogic.engine.hard.candidates import Candidates, Found, new_job
from difflogic.engine.kernels import candidates as k
from difflogic.evaluation.trial import Ops, Trial
from difflogic.system.array_types import Array, Int32s, Int64s, Ints
from difflogic.system.work import may_cancel

AT_ONCE = 64
"""Changes that are tried between two reports of progress."""

COUNTS = [k.TRIED, k.IMPROVEMENTS, k.WRONG]

MANY = 2**62
"""More improvements than any search makes."""


@dataclass
class Acceptance:
    """Keeps changes that do no harm; knows how far a search has come, and when it ends.

    A change that leaves fewer wrong bits is kept. A change that leaves as many is kept if at most
    `most_gates` gates are then active and a random number in [0, 1) is below `sideways`.
    """

    rng: np.random.Generator
    most_tried: int
    wrong: int = 0
    """Wrong bits of the current circuit."""
    most_gates: float = math.inf
    sideways: float = 1.0
    improvements: float = math.inf
    """Improvements left until a list of changes ends."""
    tried: int = 0

    @property
    def is_over(self) -> bool:
        """Whether no bit is wrong, or no tries are left."""
        return not self.wrong or self.tried >= self.most_tried

    @property
    def goes_on(self) -> bool:
        """Whether a list of changes goes on."""
        return self.improvements > 0 and not self.is_over

    def decide(self, wrong: int, gates: int) -> bool:
        """Count a change that leaves these wrong bits and gates; return whether it is kept."""
        with self.deciding(1) as decisions:
            return bool(k.accept(decisions, wrong, gates))

    @contextmanager
    def deciding(self, most: int) -> Iterator[k.Decisions]:
        """Yield the rule for kernels, which decide about up to `most` changes; then follow them."""
        before = self.rng.bit_generator.state
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fields[COUNTS] = self.tried, min(self.improvements, MANY), self.wrong
        fields[k.MOST_TRIED] = self.most_tried
        chances = np.array([self.most_gates, self.sideways])
        yield k.Decisions(fields, chances, self.rng.random(most))
        self.follow(fields)
        # As if each number had been drawn only when needed.
        self.rng.bit_generator.state = before
        self.rng.random(fields[k.DRAWN])

    def follow(self, fields: Int64s) -> None:
        """Go on as far as a kernel with these `fields` has come."""
        self.tried, self.improvements, self.wrong = fields[COUNTS].tolist()


class Changes:
    """A circuit, and what its changes do in a trial.

    Numbers are sums over the trial. If the circuit's values do not fit in memory, each change is
    simulated separately.
    """

    def __init__(self, trial: Trial, ops: Ops) -> None:
        """Changes apply to the circuit with `ops` (parameters,), which nobody may alter."""
        self.trial = trial
        self.ops = ops
        candidates = trial.candidates()
        fits = candidates is not None and candidates.load(ops)
        self._candidates: Candidates | None = candidates if fits else None

    def go_to(self, ops: Ops) -> None:
        """Switch to another circuit."""
        gates = np.flatnonzero(ops != self.ops).astype(np.int32)
        self.ops = ops
        if self._candidates is not None and not self._candidates.change(gates, ops[gates]):
            self._candidates = None

    def keep(
        self, gates: Int32s, ops: Ops, rule: Acceptance, on_progress: Callable[[], None]
    ) -> None:
        """Try changes in turn, `ops[i]` for gate `gates[i]`; go to those that a rule keeps.

        Tries at least one, even if the rule ends it. `on_progress` is called now and then.
        """
        place = self._keep_together(gates, ops, rule, on_progress)
        while place < len(ops) and (rule.goes_on or not place):
            on_progress()
            if ops[place] != self.ops[gates[place]]:
                self.try_alone(self.with_change(gates[place], ops[place]), rule)
            place += 1

    def _keep_together(
        self, gates: Int32s, ops: Ops, rule: Acceptance, on_progress: Callable[[], None]
    ) -> int:
        """Do so as long as values fit; return how many changes were passed."""
        candidates = self._candidates
        if candidates is None:
            return 0
        job = new_job(gates, ops, k.WALKS)
        with rule.deciding(len(ops)) as decisions:
            fields = decisions.walk
            while fields[k.PLACE] < len(ops) and (rule.goes_on or not fields[k.PLACE]):
                may_cancel()
                on_progress()
                fields[k.END] = min(len(ops), fields[k.PLACE] + AT_ONCE)
                fits = candidates.judge(job, decisions)
                rule.follow(fields)
                if not fits and not candidates.find_room():
                    self._candidates = None
                    break
        kept = job.kept[: fields[k.KEPT]]
        self.ops = self.with_change(gates[kept], ops[kept])
        return int(fields[k.PLACE])

    def try_alone(self, ops: Ops, rule: Acceptance, any_size: bool = False) -> bool:
        """Simulate another circuit; go to it, and return true, if the rule keeps it."""
        wrong = int(self.trial(ops).sum())
        kept = rule.decide(wrong, 0 if any_size else self.trial.active_gates)
        if kept:
            self.go_to(ops)
        return kept

    def find(self, gates: Ints, ops: Array) -> Found:
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

    def with_change(self, gates: Ints, ops: Array) -> Ops:
        """Return the circuit's ops with other `ops` for `gates`."""
        changed = self.ops.copy()
        changed[gates] = ops
        return changed
