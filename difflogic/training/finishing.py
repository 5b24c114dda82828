"""Finishing: from a trained circuit to an exact one by discrete search over single gates.

Gradient descent leaves some gates ambiguous, and the wrong choice at a few of them makes most of
the hard circuit's errors. The search tries other ops for one gate after the other, those first
that the logits or the gradient call promising, and keeps what leaves fewer cells wrong. It is
guided by counterexamples, as in inductive synthesis (Solar-Lezama et al. 2006): it begins with a
few start states, and when these are solved, start states on which the circuit still fails join
them, until none is found among many fresh ones. Where a certificate can prove a circuit right for
every start, it has to: fresh ones are then tried only if it is late, or leaves the question open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from difflogic.config.learning import FinishingConfig
from difflogic.engine.candidates import Walk
from difflogic.engine.hard import live_parameters
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.trial import Changes, Ops, Trial
from difflogic.gates import OPS
from difflogic.netlist import Netlist
from difflogic.ranks import ALONE, Ranks
from difflogic.training.judge import Judge, Judgement
from difflogic.training.polishing import Polished, polish

ROUND = 256
"""Fresh start states that are looked at together for counterexamples."""

NEW_COUNTEREXAMPLES = 4
"""Those that join the search at a time: the ones with the most wrong cells."""

MOST_SAMPLES = 64
"""Start states of a search at most: each makes every candidate slower."""

SHORTLIST = 150
"""Candidates that are tried before the next gradient is taken, by logits and by gradient each."""

IMPROVEMENTS = 6
"""Improvements after which a gradient is out of date."""

SIDEWAYS = 0.3
"""Probability of keeping a change on a shortlist that leaves as many cells wrong as before."""

DRIFT = 250
"""Random changes that are tried where a shortlist brought nothing."""

FEW_WRONG = 32
"""Wrong cells from which on drifting pays: with more, the search ends where it is stuck."""

MORE_GATES = 1.3
"""How many times the active gates of the first circuit a drifting one may have at most: each
active gate makes every candidate slower."""

PATIENCE = 4
"""Shortlists in a row without any improvement that end a search with many wrong cells."""

GRADIENT_COST = 40
"""Candidates that take about as long as a gradient: what one counts for in the budget."""


@dataclass(frozen=True)
class Searching:
    """How far a search has come."""

    candidates: int
    """Circuits that were tried."""
    budget: int
    """Those that are tried at most."""
    wrong: int
    """Wrong cells of the circuit now, on the start states that have joined the search."""


Hear = Callable[[Searching], None]


def unheard(searching: Searching) -> None:
    """Tell nobody."""


class Sensitivity(Protocol):
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
    """Whether no cell was wrong on any start state, and that is proved where it can be."""
    wrong_before: int
    """Wrong cells of the circuit that the search began with, on the first start states."""
    wrong: int
    """Wrong cells of the circuit that it ended with, on all start states that joined it."""
    wrong_fresh: int
    """Wrong cells of that circuit on fresh start states, the same for all circuits of a run."""
    candidates: int
    """Circuits that were tried."""
    polished: Polished | None = None
    """What became of an exact circuit that was polished; its ops are these."""
    grown: bool = False
    """Whether no cell was wrong, where only the training step was looked at, as more is to come."""


class Finisher:
    """Searches near trained circuits of one netlist for exact ones."""

    def __init__(
        self, netlist: Netlist, plan: Plan, settings: FinishingConfig, sensitivity: Sensitivity,
        workers: Workers, ranks: Ranks = ALONE,
    ) -> None:  # fmt: skip
        """`plan` says what exact means, and where start states come from.

        The `workers`, who judge candidates side by side, are entered already. Each of the `ranks`
        has a finisher, and all search together: what each of them finds is the same.
        """
        self._netlist, self._plan, self._settings = netlist, plan, settings
        self._sensitivity, self._workers, self._ranks = sensitivity, workers, ranks
        # Only what decides is looked at.
        self._scene = replace(plan.scene, at=plan.decisive)
        # One start, or all there are: nothing is left to look for.
        self._complete = plan.exhaustive or plan.starts == 1
        self._judge = Judge(netlist, plan)

    @cached_property
    def _fresh(self) -> list[Trial]:
        """The start states that verify a circuit, drawn and packed when it first comes to that."""
        return [self.trial(samples) for samples in self._rounds()]

    def verify(self, ops: Ops) -> tuple[bool, list[int]]:
        """Tell whether a circuit has no wrong cell, and give counterexamples, by their numbers.

        Where a certificate is possible, there has to be one. Where it does not tell that no cell is
        wrong in time, fresh start states are tried. Where all can be, the search has them already,
        and there are no counterexamples to give.
        """
        judgement = self._judge(ops) if self._judge.can_prove else None
        if judgement is not None and judgement.in_time:
            return True, []
        for trial in self._fresh:
            wrong = trial(ops).sum(axis=0)
            if wrong.any():
                if self._complete:
                    return False, []
                worst = np.argsort(-wrong, kind="stable")[:NEW_COUNTEREXAMPLES]
                return False, [trial.samples[place] for place in worst if wrong[place]]
        if judgement is None:
            return self._judge.keeps(ops), []
        if judgement.proved:
            return True, []
        return False, self._suspected(ops, judgement)

    def _suspected(self, ops: Ops, judgement: Judgement) -> list[int]:
        """Return counterexamples out of what a certificate leaves open, by their numbers."""
        assert self._plan.suspects is not None
        trial = self.trial(tuple(self._plan.suspects.add(judgement.doubtful_starts())))
        wrong = trial(ops).sum(axis=0)
        worst = np.argsort(-wrong, kind="stable")[:NEW_COUNTEREXAMPLES]
        return [trial.samples[place] for place in worst if wrong[place]]

    def finish(
        self, logits: npt.NDArray, rng: np.random.Generator, hear: Hear = unheard
    ) -> Finished:
        """Search from the most probable ops of `logits` (16, parameters).

        The budget is that of [finishing] candidates; with 0 it only verifies. `hear` is told now
        and then how far it is.
        """
        if self._plan.suspects is not None:
            self._plan.suspects.clear()
        samples = self._first_samples
        search = _Search(
            self._netlist, logits, self._sensitivity, self._workers, self._ranks, rng,
            self._settings.candidates, hear,
        )  # fmt: skip
        if self._plan.held is not None:
            # A cell that is wrong once is wrong at many steps that are counted.
            search.few_wrong *= 4
        search.face(self.trial(samples))
        before = search.wrong
        while True:
            search.run()
            exact, failing = (False, []) if search.wrong else self.verify(search.ops)
            if search.wrong or exact or search.is_over or not failing:
                fresh = 0 if exact else int(self._fresh[0](search.ops).sum())
                return Finished(search.ops, exact, before, search.wrong, fresh, search.candidates)
            samples = (samples + tuple(failing))[-MOST_SAMPLES:]
            search.face(self.trial(samples))

    @property
    def fresh_bits(self) -> int:
        """Bits that are compared on the fresh start states on which `wrong_fresh` is counted."""
        return len(next(self._rounds())) * len(self._scene.at) * self._scene.cells

    @property
    def can_prove(self) -> bool:
        """Whether an exact circuit is a proved one: by certificate, or as all cases are run."""
        return self._complete or self._judge.can_prove

    def polish(self, found: Finished, rng: np.random.Generator) -> Finished:
        """Make an exact circuit smaller, and right sooner, as far as that stays proved.

        The budget is that of [finishing] polish. What cannot be proved is left as it is.
        """
        if not self.can_prove or not self._settings.polish:
            return found
        from_step = None if self._complete else self._judge(found.ops).finding.from_step
        polished = polish(
            self._netlist, self, found.ops, from_step, self._first_samples, self._workers, rng,
            self._settings.polish, self._ranks,
        )  # fmt: skip
        return replace(found, ops=polished.ops, polished=polished)

    def certified_step(self, ops: Ops) -> int | None:
        """Return the step from which sets of values prove a circuit right; None if they do not."""
        return self._judge.certified_step(ops)

    @property
    def _first_samples(self) -> tuple[int, ...]:
        """The start states that a search begins with."""
        most = self._plan.starts if self._complete else self._settings.starts
        if self._plan.listed:
            most = min(most, self._plan.starts)
        return tuple(range(most))

    def _rounds(self) -> Iterator[range]:
        """Yield the numbers of the start states that are looked at together in verifying."""
        if self._complete:
            yield range(self._plan.starts)
            return
        first = self._settings.starts
        end = self._plan.starts if self._plan.listed else first + self._settings.verified_starts
        for start in range(first, end, ROUND):
            yield range(start, min(start + ROUND, end))
        # Those that a search begins with may have made room for counterexamples.
        yield range(first)

    def trial(self, samples: Sequence[int]) -> Trial:
        """Return the trial of start states by their numbers."""
        return Trial(self._netlist, self._scene, samples)


class _Search:
    """A circuit that changes gate by gate: `ops`, with so many `wrong` cells."""

    def __init__(
        self,
        netlist: Netlist,
        logits: npt.NDArray,
        sensitivity: Sensitivity,
        workers: Workers,
        ranks: Ranks,
        rng: np.random.Generator,
        budget: int,
        hear: Hear,
    ) -> None:
        self.ops: Ops = logits.argmax(axis=0).astype(np.uint8)
        self.wrong = 0
        self.candidates = 0
        self.few_wrong = FEW_WRONG
        self._netlist, self._sensitivity = netlist, sensitivity
        self._workers, self._ranks = workers, ranks
        self._rng, self._budget, self._hear = rng, budget, hear
        self._gap = (logits.max(axis=0) - logits).T
        self._most_gates = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return self.candidates >= self._budget

    def face(self, trial: Trial) -> None:
        """Go on with these start states."""
        self._trial = trial
        self._changes = Changes(trial, self._workers, self.ops, self._ranks)
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
                # Most changes matter to no cell; a walk among these leads out of where no single
                # change helps (neutral drift: Miller and Smith 2006).
                self._drift()
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

    def _drift(self) -> None:
        """Try random changes of live gates."""
        live = np.flatnonzero(self._live())
        gates = self._rng.choice(live, DRIFT)
        ops = self._rng.integers(0, OPS, DRIFT)
        self._try(list(zip(gates.tolist(), ops.tolist(), strict=True)), 1.0, DRIFT)

    def _try(self, changes: list[tuple[int, int]], sideways: float, improvements: int) -> None:
        """Make each change in turn that leaves fewer cells wrong, and by chance if as many.

        Ends after so many `improvements`, and when nothing is wrong or the budget is spent.
        """
        if not changes:
            return
        gates, ops = (np.array(each) for each in zip(*changes, strict=True))
        before = self._rng.bit_generator.state
        walk = Walk(
            self.wrong, improvements, self._budget, self._most_gates, sideways,
            self._rng.random(len(changes)), self.candidates,
        )  # fmt: skip

        def hear() -> None:
            self._hear(Searching(walk.tried, self._budget, walk.wrong))

        self._changes.walk(gates.astype(np.int32), ops.astype(np.uint8), walk, hear)
        # As if each number had been drawn when it was asked for.
        self._rng.bit_generator.state = before
        self._rng.random(walk.drawn)
        self.ops, self.wrong, self.candidates = self._changes.ops.copy(), walk.wrong, walk.tried

    def _live(self) -> npt.NDArray[np.bool_]:
        return live_parameters(self._netlist, self.ops, self._trial.scene.channels)

    def _shortlist(self, change: npt.NDArray) -> Iterator[tuple[int, int]]:
        """Yield (gate, op) in turn by the gradient and by the logits, the best ones first."""
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
    """Return the places of the `count` least values, ascending; of equal ones the first ones.

    The beginning of a stable sort, without sorting the rest.
    """
    if not count:
        return np.empty(0, np.int64)
    bound = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < bound)
    equal = np.flatnonzero(values == bound)[: count - len(below)]
    return np.concatenate([below[np.argsort(values[below], kind="stable")], equal])
