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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.config.learning import FinishingConfig
from difflogic.engine.search_buffers import (
    FIRST_STARTS,
    LATER,
    MOST_SAMPLES,
    ROUND,
    VERIFIED_STARTS,
)
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.judge import Judge, Judgement
from difflogic.search.polishing import Polished, polish
from difflogic.search.rectifying import can_rectify
from difflogic.search.rectifying_search import RectifyingSearch
from difflogic.search.search import FEW_WRONG, OnProgress, Search, Sensitivity
from difflogic.system.callbacks import ignore
from difflogic.system.ranks import ALONE, Ranks

NEW_COUNTEREXAMPLES = 4
"""Those that join the search at a time: the ones with the most wrong cells."""


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
    late: bool = False
    """Whether it was verified, and polished, but is proved only from after the training step on: it
    does not count as exact then."""


class Finisher:
    """Searches near trained circuits of one netlist for exact ones."""

    def __init__(
        self,
        netlist: Netlist,
        plan: Plan,
        settings: FinishingConfig,
        sensitivity: Sensitivity,
        workers: Workers,
        ranks: Ranks = ALONE,
    ) -> None:
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
        self._rectifies = bool(settings.rectify) and can_rectify(self._scene, self._complete)

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
        if (judgement is not None and judgement.in_time) or self._heals(ops):
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

    def _heals(self, ops: Ops) -> bool:
        """Whether all damages are proved to grow back, where the task asks for that.

        However long it takes: at the steps that a search looks at some may be on their way.
        """
        return self._plan.scene.damage is not None and self._judge.keeps(ops)

    def _suspected(self, ops: Ops, judgement: Judgement) -> list[int]:
        """Return counterexamples out of what a certificate leaves open, by their numbers."""
        assert self._plan.found_starts is not None
        trial = self.trial(tuple(self._plan.found_starts.add(judgement.doubtful_starts())))
        wrong = trial(ops).sum(axis=0)
        worst = np.argsort(-wrong, kind="stable")[:NEW_COUNTEREXAMPLES]
        return [trial.samples[place] for place in worst if wrong[place]]

    def finish(
        self, logits: npt.NDArray, rng: np.random.Generator, on_progress: OnProgress = ignore
    ) -> Finished:
        """Search from the most probable ops of `logits` (16, parameters).

        [finishing] candidates is the budget; with 0 it only verifies. `on_progress` is called
        now and then.
        """
        if self._plan.found_starts is not None:
            self._plan.found_starts.clear()
        samples, scene = self._first_samples, self._scene
        if self._rectifies and self._plan.held is not None:
            scene = replace(scene, at=scene.at[: self._worth(logits.argmax(axis=0))])
        arguments = (
            self._netlist,
            logits,
            self._sensitivity,
            self._workers,
            self._ranks,
            rng,
            self._settings.candidates,
            on_progress,
        )
        search = RectifyingSearch(*arguments) if self._rectifies else Search(*arguments)
        search.set_trial(Trial(self._netlist, scene, samples))
        before = search.wrong
        while not self._heals(search.ops):
            search.few_wrong = self._few_wrong(scene)
            search.run()
            found = search.ops
            exact, failing = (self._heals(found), []) if search.wrong else self.verify(found)
            over = search.wrong or exact or search.is_over
            late = None if over or failing else self._wrong_later(search.ops, scene)
            if over or not (failing or late):
                fresh = 0 if exact else int(self._fresh[0](search.ops).sum())
                return Finished(search.ops, exact, before, search.wrong, fresh, search.candidates)
            if late:
                scene = scene.until(late)
            # The first one stays where others are damaged: it alone is looked at later, too.
            stay = 1 if scene.alone else 0
            others = samples[stay:] + tuple(failing)
            samples = samples[:stay] + others[stay - MOST_SAMPLES :]
            search.set_trial(Trial(self._netlist, scene, samples))
        return Finished(search.ops, True, before, search.wrong, 0, search.candidates)

    def _few_wrong(self, scene: Scene) -> int:
        """Return how many wrong cells a search leads out of, where no change of one gate helps."""
        if self._rectifies:
            return self._settings.rectify * len(scene.at)
        # A cell that is wrong once is wrong at many steps that are counted.
        return FEW_WRONG if self._plan.held is None else 4 * FEW_WRONG

    def _worth(self, ops: npt.NDArray[np.int64]) -> int:
        """Return how many of the steps that count have few wrong cells, on the average; at least 1.

        What has gone wrong at one step goes wrong at the next in many cells. Where that is the
        case it is too soon to look at these steps: others follow once those before are right.
        """
        wrong = self.trial(self._first_samples)(ops.astype(np.uint8)).sum(axis=1)
        few = np.cumsum(wrong) <= self._settings.rectify * np.arange(1, len(wrong) + 1)
        return 1 + int(np.flatnonzero(few)[-1]) if few.any() else 1

    def _wrong_later(self, ops: Ops, scene: Scene) -> int | None:
        """Return the first step after those of a scene at which what is to stay has not stayed.

        None if there is none in the next LATER times as many, or nothing is to stay.
        """
        if self._plan.held is None:
            return None
        seen = scene.at[-1]
        later = replace(scene, at=tuple(range(seen + 1, LATER * seen)), alone=(), damage=None)
        wrong = Trial(self._netlist, later, (0,))(ops)[:, 0]
        return later.at[int(wrong.astype(np.bool_).argmax())] if wrong.any() else None

    @property
    def can_prove(self) -> bool:
        """Whether an exact circuit is a proved one: by certificate, or as all cases are run."""
        return self._complete or self._judge.can_prove

    def polish(self, found: Finished, rng: np.random.Generator, hasten: bool = True) -> Finished:
        """Make an exact circuit smaller, and right sooner, as far as that stays proved.

        The budget is that of [finishing] polish, and more to `hasten` a certificate that is late.
        What cannot be proved is left as it is.
        """
        if not self.can_prove or not self._settings.polish:
            return found
        from_step = None if self._complete else self._judge(found.ops).finding.from_step
        due = self._judge.due
        polished = polish(
            self._netlist,
            self,
            found.ops,
            from_step,
            self._first_samples,
            self._workers,
            rng,
            self._settings.polish,
            self._ranks,
            due if hasten else None,
        )
        late = due is not None and (polished.after.from_step or 0) > due
        return replace(
            found, ops=polished.ops, polished=polished, late=late, exact=found.exact and not late
        )

    def certified_step(self, ops: Ops) -> int | None:
        """Return the step from which sets of values prove a circuit right; None if they do not."""
        return self._judge.certified_step(ops)

    def unknown_in_time(self, ops: Ops) -> int | None:
        """Return the cells that sets leave unknown at the first step that counts.

        None if they do not prove a circuit right later on.
        """
        return self._judge.unknown_in_time(ops)

    @property
    def _first_samples(self) -> tuple[int, ...]:
        """The start states that a search begins with."""
        most = self._plan.starts if self._complete else FIRST_STARTS
        if self._plan.listed:
            most = min(most, self._plan.starts)
        return tuple(range(most))

    def _rounds(self) -> Iterator[range]:
        """Yield the numbers of the start states that are looked at together in verifying."""
        if self._complete:
            yield range(self._plan.starts)
            return
        first = len(self._first_samples)
        end = self._plan.starts if self._plan.listed else first + VERIFIED_STARTS
        for start in range(first, end, ROUND):
            yield range(start, min(start + ROUND, end))
        # Those that a search begins with may have made room for counterexamples.
        yield range(first)

    def trial(self, samples: Sequence[int]) -> Trial:
        """Return the trial of start states by their numbers."""
        return Trial(self._netlist, self._scene, samples)
