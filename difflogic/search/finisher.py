"""Finishing: a discrete search over single gates, from a trained circuit to an exact one.

Gradient descent leaves some gates ambiguous, and the wrong op in a few of them causes most errors
of the hard circuit. The search tries other ops for one gate at a time, the most promising first by
logits or gradient, and keeps what leaves fewer cells wrong. Counterexamples guide it, as in
inductive synthesis (Solar-Lezama et al. 2006). It begins with a few starts. Once these are solved,
it adds starts on which the circuit still fails, until many fresh starts show no failure. If
certificates can prove a circuit right for every start, one is required; fresh starts are then tried
only if the certificate is late or inconclusive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.problem import Problem
from difflogic.config.sections import FinishingConfig
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.changes import Acceptance
from difflogic.search.correction import Correction
from difflogic.search.footprint import MOST_SAMPLES, ROUND
from difflogic.search.polish import Polished, polish
from difflogic.search.rectification import RepairByDetectors, can_rectify
from difflogic.search.repair import FEW_WRONG, Repair, Sensitivity
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.search.verifier import Verifier
from difflogic.search.walk import OnProgress
from difflogic.system.array_types import Array, Int64s
from difflogic.system.work import ignore

if TYPE_CHECKING:
    from difflogic.evaluation.judge import Judge
    from difflogic.evaluation.toughness import Toughness
    from difflogic.proof.answer import Answer

Certify = Callable[[SoftCircuit], "Answer"]
"""Answers what a task asks of a circuit, which may have been rebuilt."""

LATER = 16
"""Multiple of a search's steps after which a circuit that must stay is checked once more."""


@dataclass(frozen=True)
class Finished:
    """The result of a search."""

    ops: Ops
    """Shape (parameters,)."""
    exact: bool
    """Whether no cell was wrong on any start, with a proof where possible."""
    wrong_before: int
    """Wrong cells of the first circuit, on the first starts."""
    wrong: int
    """Wrong cells of the last circuit, on all starts of the search."""
    wrong_fresh: int
    """Wrong cells of the last circuit on fresh starts, the same for all circuits of a run."""
    candidates: int
    """Number of circuits tried."""
    polished: Polished | None = None
    """What polishing gained; None if it was not polished."""
    late: bool = False
    """Whether it was verified and polished, but its proof begins after the training step. Then it
    does not count as exact."""


@dataclass(frozen=True, eq=False)
class SearchContext:
    """What a search may use in a stage. What takes a while is made when it is asked for."""

    start: SoftCircuit
    """Any circuit of the wiring."""
    problem: Problem
    workers: int
    """Their number changes no bit."""
    certify: Certify
    """Answers what the stage's task asks of a circuit, which may have been rebuilt."""
    make_judge: type[Judge]
    measure: type[Toughness]
    """Handed in: searches import no proofs."""
    leads_on: bool = False
    """Whether another stage follows."""

    @cached_property
    def plan(self) -> Plan:
        """What exact means, and where starts come from."""
        plan = Plan.searched(self.problem.task, ROUND, self.problem.training.seed)
        return replace(plan, leads_on=self.leads_on)

    def judge(self, netlist: Netlist) -> Judge:
        """Return what certifies the circuits of a netlist."""
        return self.make_judge(netlist, self.plan)

    def toughness(self, netlist: Netlist) -> Toughness:
        """Return what measures damage, if the task teaches to heal it."""
        return self.measure(netlist, self.problem.task, self.problem.training.seed)


class AnyFinisher(ABC):
    """A search: makes the circuits of one wiring exact."""

    @classmethod
    @abstractmethod
    def fits(cls, problem: Problem) -> bool:
        """Whether it is for a stage of this problem; the first that fits is taken."""

    @classmethod
    @abstractmethod
    def of(cls, context: SearchContext) -> AnyFinisher:
        """Return the search of a stage that it fits."""

    correction: Correction | None = None
    """The correction of the last circuit that was completed, if its picture has places."""

    @abstractmethod
    def finish(
        self, logits: Array, rng: np.random.Generator, on_progress: OnProgress = ignore
    ) -> Finished:
        """Return an exact circuit near `logits` (16, parameters), or the best one found."""

    def polish(self, found: Finished, rng: np.random.Generator, hasten: bool = True) -> Finished:
        """Return a smaller circuit in place of an exact one, or one that is right sooner."""
        return found

    def complete(self, circuit: SoftCircuit) -> SoftCircuit:
        """Return what a run saves of an exact `circuit`; it may have other gates and wires."""
        return circuit

    def verify(self, ops: Ops) -> tuple[bool, list[int]]:
        """Return whether a circuit has no wrong cell, and the numbers of counterexamples.

        Here every circuit passes: `complete` makes a right one of it.
        """
        return True, []


def must_be_tough(problem: Problem) -> bool:
    """Whether damage is measured before a stage may end."""
    return bool(problem.finishing.tough) and problem.task.lessons is not problem.task


class Finisher(Verifier, AnyFinisher):
    """Searches near trained circuits of one netlist for exact ones."""

    def __init__(
        self,
        netlist: Netlist,
        plan: Plan,
        settings: FinishingConfig,
        sensitivity: Sensitivity,
        judge: Judge,
        toughness: Toughness | None = None,
    ) -> None:
        """`plan` says what exact means, and where starts come from; `judge` certifies circuits.

        `toughness` measures damage, if the task teaches to heal it.
        """
        super().__init__(netlist, plan, judge, toughness, settings.tough)
        self._settings = settings
        self._sensitivity = sensitivity
        self._rectifies = bool(settings.rectify) and can_rectify(self._scene, self._complete)

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        """It fits any circuit whose gates are all learned."""
        return problem.architecture.fixed is None

    @classmethod
    def of(cls, context: SearchContext) -> Finisher:
        problem = context.problem
        netlist = context.start.netlist
        plan = context.plan
        return cls(
            netlist,
            plan,
            problem.finishing,
            GradientSensitivity(netlist, plan, problem.task.automaton.steps),
            context.judge(netlist),
            context.toughness(netlist) if must_be_tough(problem) else None,
        )

    def finish(
        self, logits: Array, rng: np.random.Generator, on_progress: OnProgress = ignore
    ) -> Finished:
        """Search from the most probable ops of `logits` (16, parameters).

        [finishing] candidates is the budget; with 0 it only verifies. `on_progress` is called
        now and then.
        """
        if self._plan.numbered_starts is not None:
            self._plan.numbered_starts.clear()
        samples = self.first_samples
        scene = self._scene
        if self._rectifies and self._plan.holds:
            scene = replace(scene, at=scene.at[: self._useful_steps(logits.argmax(axis=0))])
        rule = Acceptance(rng, self._settings.candidates)
        search = (RepairByDetectors if self._rectifies else Repair)(
            self.netlist, logits, self._sensitivity, rule, on_progress
        )
        search.set_trial(Trial(self.netlist, scene, samples))
        before = rule.wrong
        while not self._heals(search.ops):
            search.few_wrong = self._few_wrong(scene)
            search.run()
            found = search.ops
            exact, failing = (self._heals(found), []) if rule.wrong else self.verify(found)
            over = exact or rule.wrong or rule.tried >= rule.most_tried
            late = None if over or failing else self._wrong_later(found, scene)
            if over or not (failing or late):
                fresh = 0 if exact else int(self._fresh[0](found).sum())
                return Finished(found, bool(exact), before, rule.wrong, fresh, rule.tried)
            if late:
                scene = scene.until(late)
            # Where others are damaged, the first one is not: it alone tests later steps.
            stay = 1 if scene.undamaged_at else 0
            others = samples[stay:] + tuple(failing)
            samples = samples[:stay] + others[stay - MOST_SAMPLES :]
            search.set_trial(Trial(self.netlist, scene, samples))
        return Finished(search.ops, True, before, rule.wrong, 0, rule.tried)

    def _few_wrong(self, scene: Scene) -> int:
        """Return the largest number of wrong cells with which a stuck search continues."""
        if self._rectifies:
            return self._settings.rectify * len(scene.at)
        # A cell that is wrong once is wrong at many of the counted steps.
        return 4 * FEW_WRONG if self._plan.holds else FEW_WRONG

    def _useful_steps(self, ops: Int64s) -> int:
        """Return the number of first steps with few wrong cells on average; at least 1.

        Errors spread from step to step: later steps follow once the earlier ones are right.
        """
        wrong = self.trial(self.first_samples)(ops.astype(np.uint8)).sum(axis=1)
        few = np.cumsum(wrong) <= self._settings.rectify * np.arange(1, len(wrong) + 1)
        return 1 + int(np.flatnonzero(few)[-1]) if few.any() else 1

    def _wrong_later(self, ops: Ops, scene: Scene) -> int | None:
        """Return the first step after a scene at which a target that must stay is wrong.

        Looks LATER times as far as the scene. None if no step is wrong, or no target must stay.
        """
        if not self._plan.holds:
            return None
        seen = scene.at[-1]
        later = replace(
            scene, at=tuple(range(seen + 1, LATER * seen)), undamaged_at=(), damage=None
        )
        wrong = Trial(self.netlist, later, (0,))(ops)[:, 0]
        return later.at[int(wrong.astype(np.bool_).argmax())] if wrong.any() else None

    def polish(self, found: Finished, rng: np.random.Generator, hasten: bool = True) -> Finished:
        """Make an exact circuit smaller, or right sooner, while it stays proved.

        [finishing] polish is the budget; to `hasten` a late certificate costs more. Returns a
        circuit that cannot be proved unchanged.
        """
        if not self.can_prove or not self._settings.polish:
            return found
        budget = self._settings.polish
        latest = self.judge.latest_step
        ops, polished = polish(self, found.ops, rng, budget, hasten)
        late = latest is not None and (polished.after.from_step or 0) > latest
        return replace(found, ops=ops, polished=polished, late=late, exact=found.exact and not late)
