"""Verifying a circuit: by a certificate where possible, otherwise on many fresh starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.footprint import FIRST_STARTS, ROUND, VERIFIED_STARTS
from difflogic.system.array_types import Int64s

if TYPE_CHECKING:
    from difflogic.evaluation.judge import Judge
    from difflogic.evaluation.toughness import Toughness

NEW_COUNTEREXAMPLES = 4
"""Counterexamples that join the search together: those with the most wrong cells."""


class Verifier:
    """Verifies circuits of one netlist, and finds the starts on which they fail."""

    def __init__(
        self,
        netlist: Netlist,
        plan: Plan,
        judge: Judge,
        toughness: Toughness | None = None,
        most_wrong: float = math.inf,
    ) -> None:
        """`plan` says what exact means, and where starts come from; `judge` certifies circuits.

        If `toughness` is given, at most `most_wrong` cells may be wrong on average under damage.
        """
        self.toughness = toughness
        self._most_wrong = most_wrong
        self.netlist = netlist
        self._plan = plan
        # Only the decisive steps are compared.
        self._scene = replace(plan.scene, at=plan.decisive)
        # The search has all starts from the beginning.
        self._complete = plan.exhaustive or plan.starts == 1
        self.judge = judge

    @property
    def can_prove(self) -> bool:
        """Whether exact circuits are proved, by a certificate or by all cases."""
        return self._complete or self.judge.can_prove

    @cached_property
    def _fresh(self) -> list[Trial]:
        """The starts that verify a circuit, drawn and packed on first use."""
        return [self.trial(samples) for samples in self._rounds()]

    def verify(self, ops: Ops) -> tuple[bool, list[int]]:
        """Return whether a circuit has no wrong cell, and the numbers of counterexamples.

        Requires a certificate where possible. If this does not show that the circuit is right in
        time, tries fresh starts. Returns no counterexamples if the search has all starts already,
        or if the circuit must be tough.
        """
        judge = self.judge
        certifies = self.judge.can_prove
        if self.toughness is not None and certifies:
            return self._is_tough(self.toughness, ops), []
        proved = certifies and judge.proves(ops)
        in_time = proved and judge.latest_step is not None and not judge.is_late(ops)
        if in_time or self._heals(ops):
            return True, []
        for trial in self._fresh:
            wrong = trial(ops).sum(axis=0)
            if wrong.any():
                return False, [] if self._complete else _worst(trial, wrong)
        if proved or not certifies:
            return proved or judge.keeps(ops), []
        # Look for counterexamples among the starts that the certificate leaves open.
        assert self._plan.numbered_starts is not None
        trial = self.trial(tuple(self._plan.numbered_starts.add(judge.doubtful_starts(ops))))
        return False, _worst(trial, trial(ops).sum(axis=0))

    def proved_from(self, ops: Ops) -> int | None:
        """Return the step from which a certificate holds; None without one, or if cases decide."""
        return None if self._complete else self.judge.certified_step(ops)

    def _is_tough(self, toughness: Toughness, ops: Ops) -> bool:
        """Return whether few cells are wrong under damage, and the rest is proved, in time."""
        if self.judge.is_late(ops) or toughness(ops) > self._most_wrong:
            return False
        return toughness.confines(ops)

    def _heals(self, ops: Ops) -> bool:
        """Whether all damages are proved to grow back, even after the compared steps."""
        return self._plan.scene.damage is not None and self.judge.keeps(ops)

    @property
    def first_samples(self) -> tuple[int, ...]:
        """The numbers of a search's first starts."""
        most = self._plan.starts if self._complete else FIRST_STARTS
        if self._plan.covers_all_starts:
            most = min(most, self._plan.starts)
        return tuple(range(most))

    def _rounds(self) -> Iterator[range]:
        """Yield the numbers of the starts that verify a circuit, in groups that run together."""
        if self._complete:
            yield range(self._plan.starts)
            return
        first = len(self.first_samples)
        end = self._plan.starts if self._plan.covers_all_starts else first + VERIFIED_STARTS
        for start in range(first, end, ROUND):
            yield range(start, min(start + ROUND, end))
        # The search may have replaced its first starts by counterexamples.
        yield range(first)

    def trial(self, samples: Sequence[int]) -> Trial:
        """Return the trial of the starts with these numbers."""
        return Trial(self.netlist, self._scene, samples)


def _worst(trial: Trial, wrong: Int64s) -> list[int]:
    """Return the numbers of the starts with the most `wrong` cells, (starts,)."""
    worst = np.argsort(-wrong, kind="stable")[:NEW_COUNTEREXAMPLES]
    return [trial.samples[place] for place in worst if wrong[place]]
