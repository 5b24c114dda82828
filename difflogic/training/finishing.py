"""Finishing: from a trained circuit to an exact one by discrete search over single gates.

Gradient descent leaves some gates ambiguous, and the wrong choice at a few of them makes most of
the hard circuit's errors. The search tries other ops for one gate after the other, those first
that the logits or the gradient call promising, and keeps what leaves fewer cells wrong. It is
guided by counterexamples, as in inductive synthesis (Solar-Lezama et al. 2006): it begins with a
few start states, and when these are solved, start states on which the circuit still fails join
them, until none is found among many fresh ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from difflogic.config.models import FinishingConfig
from difflogic.engine.hard import live_parameters
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.trial import Ops, Trial
from difflogic.netlist import Netlist

ROUND = 256
"""Fresh start states that are looked at together for counterexamples."""

NEW_COUNTEREXAMPLES = 4
"""Those that join the search at a time: the ones with the most wrong cells."""

MOST_SAMPLES = 64
"""Start states of a search at most: each makes every candidate slower."""

SHORTLIST = 300
"""Candidates that are tried before the next gradient is taken, by logits and by gradient each."""

IMPROVEMENTS = 6
"""Improvements after which a gradient is out of date."""

SIDEWAYS = 0.3
"""Probability of keeping a change that leaves as many cells wrong as before."""

PATIENCE = 4
"""Shortlists without any improvement, each longer than the one before, that end a search."""

GRADIENT_COST = 40
"""Candidates that take about as long as a gradient: what one counts for in the budget."""


class Guide(Protocol):
    """Predicts what a change of one gate does."""

    def __call__(self, ops: Ops, samples: tuple[int, ...]) -> npt.NDArray[np.floating]:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op.

        `samples` are the numbers of start states on which the circuit fails.
        """


@dataclass(frozen=True)
class Finished:
    """What a search found."""

    ops: Ops
    """Shape (parameters,)."""
    exact: bool
    """Whether no cell was wrong on any of the start states, the fresh ones included."""
    wrong_before: int
    """Wrong cells of the circuit that the search began with, on the first start states."""
    wrong: int
    """Wrong cells of the circuit that it ended with, on all start states that joined it."""
    wrong_fresh: int
    """Wrong cells of that circuit on fresh start states, the same for all circuits of a run."""
    candidates: int
    """Circuits that were tried."""


class Finisher:
    """Searches near trained circuits of one netlist for exact ones."""

    def __init__(
        self, netlist: Netlist, plan: Plan, settings: FinishingConfig, guide: Guide
    ) -> None:
        """`plan` says what exact means, and where start states come from."""
        self._netlist, self._plan, self._settings = netlist, plan, settings
        self._guide = guide
        # Only what decides is looked at.
        self._scene = replace(plan.scene, at=plan.required)
        # One start, or all there are: nothing is left to look for.
        self._complete = plan.exhaustive or plan.starts == 1
        fresh = (
            range(plan.starts)
            if self._complete
            else range(settings.starts, settings.starts + ROUND)
        )
        self._fresh = self._trial(fresh)

    def verify(self, ops: Ops) -> tuple[bool, list[int]]:
        """Tell whether a circuit has no wrong cell, and the numbers of start states that show it.

        Where there are too many start states to try all, fresh ones are tried.
        """
        if self._complete:
            return not self._fresh(ops).any(), []
        first = self._settings.starts
        for start in range(first, first + self._settings.verified_starts, ROUND):
            stop = min(start + ROUND, first + self._settings.verified_starts)
            wrong = self._trial(range(start, stop))(ops).sum(axis=0)
            if wrong.any():
                worst = np.argsort(-wrong, kind="stable")[:NEW_COUNTEREXAMPLES]
                return False, [start + int(place) for place in worst if wrong[place]]
        return True, []

    def finish(self, logits: npt.NDArray, rng: np.random.Generator) -> Finished:
        """Search from the most probable ops of `logits` (16, parameters).

        The budget is that of [finishing] candidates; with 0 it only verifies.
        """
        ops = logits.argmax(axis=0).astype(np.uint8)
        samples = tuple(range(self._plan.starts if self._complete else self._settings.starts))
        trial = self._trial(samples)
        wrong = before = int(trial(ops).sum())
        candidates = 0
        while True:
            if wrong:
                ops, wrong, spent = self._descend(logits, ops, trial, rng, candidates)
                candidates += spent
            exact, failing = (False, []) if wrong else self.verify(ops)
            if wrong or exact or candidates >= self._settings.candidates:
                fresh = 0 if exact else int(self._fresh(ops).sum())
                return Finished(ops, exact, before, wrong, fresh, candidates)
            samples = (samples + tuple(failing))[-MOST_SAMPLES:]
            trial = self._trial(samples)
            wrong = int(trial(ops).sum())

    def _descend(
        self, logits: npt.NDArray, ops: Ops, trial: Trial, rng: np.random.Generator, spent: int
    ) -> tuple[Ops, int, int]:
        """Change one gate at a time while it helps; return ops, wrong cells and candidates."""
        ops = ops.copy()
        found = trial(ops).sum(axis=0)
        wrong, candidates, idle = int(found.sum()), 0, 0
        budget = self._settings.candidates - spent
        while wrong and idle < PATIENCE and candidates < budget:
            failing = np.argsort(-found, kind="stable")[: np.count_nonzero(found)]
            change = self._guide(ops, tuple(trial.samples[place] for place in failing))
            candidates += GRADIENT_COST
            improvements = 0
            for gate, op in self._shortlist(logits, ops, change, SHORTLIST * (1 + idle)):
                old = ops[gate]
                ops[gate] = op
                candidates += 1
                now = int(trial(ops).sum())
                if now < wrong or (now == wrong and rng.random() < SIDEWAYS):
                    improvements += now < wrong
                    wrong = now
                else:
                    ops[gate] = old
                if not wrong or improvements == IMPROVEMENTS or candidates >= budget:
                    break
            idle = 0 if improvements else idle + 1
            found = trial(ops).sum(axis=0)
        return ops, wrong, candidates

    def _shortlist(
        self, logits: npt.NDArray, ops: Ops, change: npt.NDArray, length: int
    ) -> Iterator[tuple[int, int]]:
        """Yield (gate, op) in turn by the gradient and by the logits, the best ones first."""
        idle = ~live_parameters(self._netlist, ops, self._scene.channels)
        # Slopes multiply from step to step: where they leave the range there is no prediction.
        by_gradient = np.where(idle[:, None], np.inf, np.nan_to_num(change))
        gap = (logits.max(axis=0) - logits).T
        by_logits = np.where(idle[:, None], np.inf, gap)
        for table in (by_gradient, by_logits):
            table[np.arange(len(ops)), ops] = np.inf
        ranked = [
            np.argsort(table, axis=None, kind="stable")[: min(length, np.isfinite(table).sum())]
            for table in (by_gradient, by_logits)
        ]
        seen: set[int] = set()
        for pair in zip(*ranked, strict=True):
            for place in pair:
                if place not in seen:
                    seen.add(place)
                    gate, op = divmod(int(place), by_logits.shape[1])
                    yield gate, op

    def _trial(self, samples: range | tuple[int, ...]) -> Trial:
        return Trial(self._netlist, self._scene, samples)
