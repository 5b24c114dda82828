"""What is asked, in what order and for how long, about several grids, about all, and about damage.

Sets of values come first, for all grids. Grids that they leave open get equal shares of the time,
with a smaller circuit, on which sets lose fewer dependencies between signals. Then follow all sizes
and damage, by half of the time that is left each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.cost import require_provable
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Cases
from difflogic.proof.answer import Assurance, Budget, Confinement
from difflogic.proof.cases import ListedStarts
from difflogic.proof.certificates import damage_part, write_cases, write_certificate, write_one_side
from difflogic.proof.convergence.every_size import EverySize, NoTargetError, Plane
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.convergence.methods import SETS
from difflogic.proof.convergence.one_side import OneSide
from difflogic.proof.convergence.orbits import resting_picture
from difflogic.proof.equivalence import decide_equality
from difflogic.proof.prover import Question, Unfit, confined, prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, ConfigError, OutOfTimeError

PART_SECONDS = 60.0
"""Default time limit for each grid, for all sizes, and for damage."""

LEAST_SECONDS = 0.001
"""Least time limit of a simplification."""


@dataclass(frozen=True)
class Extent:
    """Where something is to be proved; by default on an automaton's own grid."""

    sizes: Sequence[tuple[int, int]] = ()
    all_sizes: bool = False
    wound: Wound | None = None
    """Damage that must stay local. All sizes are decided, too, unless a picture is asked about."""

    @property
    def seconds(self) -> float:
        """The default time limit."""
        everywhere = self.all_sizes or self.wound is not None
        return PART_SECONDS * (max(1, len(self.sizes)) + everywhere + (self.wound is not None))


class Certifiable(Protocol):
    """A proof that is no list of cases."""

    def certificate(self) -> str:
        """Return it as JSON text. Raises CircuitError if there is none."""


@dataclass(frozen=True)
class Decided:
    """What was asked about an automaton, and what is known."""

    asked: Extent
    """With `sizes` for the grids of `findings`."""
    findings: tuple[Finding, ...] = ()
    """One per grid; empty if the task has no target common to all starts."""
    assurance: Assurance | None = None
    """The verdict on a task without such a target."""
    evidence: Cases | Certifiable | None = None
    """All starts and targets of such a task, if they can be listed; or a proof of another kind."""
    every_size: EverySize | None = None
    """If all sizes or damage are asked about: what is known about all heights and widths."""
    confinement: Confinement | None = None
    """If damage is asked about: whether it stays local."""

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each thing that was asked; open where there is no answer."""
        asked = self.asked
        known = dict[str, Any]()
        for number, (height, width) in enumerate(asked.sizes):
            found = self.findings[number : number + 1]
            known[f"{height}×{width} cells"] = found[0] if found else None
        if not asked.sizes:
            known["the task"] = self.assurance
        if asked.all_sizes:
            known["all sizes"] = self.every_size
        if asked.wound is not None:
            known["damage"] = self.confinement
        return {
            what: Verdict.open if each is None else each.verdict for what, each in known.items()
        }

    @property
    def proved(self) -> bool:
        """Whether everything that was asked is proved."""
        return all(each is Verdict.proved for each in self.verdicts.values())

    def certificate(self, automaton: Automaton, reduced: bool) -> str:
        """Return the certificate of the first grid, or of all cases, as text.

        It is about every grid if cells look to one side, and all sizes are proved by that.
        A list of cases is for the `reduced` circuit, or for the circuit of a file, unchanged.
        Raises CircuitError if there is none.
        """
        everywhere = self.every_size
        if self.confinement is None and everywhere and isinstance(everywhere.proof, OneSide):
            return write_one_side(everywhere)
        if self.findings:
            more = {} if self.confinement is None else {"damage": self._damage(self.confinement)}
            return write_certificate(automaton, self.findings[0], more)
        if self.evidence is not None and not isinstance(self.evidence, Cases):
            return self.evidence.certificate()
        if self.assurance is not None and self.assurance.scope == "every size":
            raise CircuitError(
                f"{self.assurance.text}: there is no certificate to write: docs/local-rules.md has "
                "a checker that takes the circuit itself"
            )
        if self.evidence is None or not self.proved:
            verdict = "nothing" if self.assurance is None else self.assurance.text
            raise CircuitError(f"{verdict}: there is no stronger certificate")
        return write_cases(live_part(automaton) if reduced else automaton, self.evidence)

    def _damage(self, found: Confinement) -> dict[str, Any]:
        """Return what a certificate says about damage, and the settled states of small grids."""
        if found.verdict is not Verdict.proved:
            raise CircuitError(f"{found.text}: there is no such certificate")
        table = None if self.every_size is None else self.every_size.table
        circuit = self.findings[0].question.circuit
        if found.synchronous or table is None or table.question.circuit is not circuit:
            raise CircuitError(
                "a certificate is about damage on every grid, in any order of firing, which is not "
                "proved of the circuit that it has"
            )
        return damage_part(found, table)


def decide(
    automaton: Automaton,
    goal: Question | None,
    extent: Extent,
    budget: Budget,
    simplify: Callable[[Automaton, float], Automaton],
) -> Decided:
    """Prove that every start ends in the target and stays, or find a state that does not.

    Without a goal, the target is the state that a start of zeros ends in. `simplify` returns a
    smaller circuit that is equal, within a number of seconds, or the same one. Raises ConfigError
    for grids that are too large, and CircuitError without a target.
    """
    if goal is not None and not isinstance(goal, Plane):
        return _on_own_grid(automaton, goal, extent, budget)
    sizes = extent.sizes or [(automaton.height, automaton.width)]
    deadline = budget.deadline
    asked = replace(extent, sizes=sizes, all_sizes=extent.all_sizes or extent.wound is not None)
    for size in sizes:
        require_provable(automaton.circuit, *size)
    until = Deadline.after(deadline.left * PART_SECONDS * len(sizes) / extent.seconds)
    rests = partial(_resting, automaton, deadline)
    plane = goal or Plane(automaton, rests, 1, compared=False)
    targets = [plane.target(*size) for size in sizes]
    small = live_part(automaton)
    visible = automaton.visible
    if not decide_equality(automaton.circuit, small.circuit, visible, until.left).equal:
        small = automaton
    by_sets = Budget(until, SETS.cost)
    found = [prove(Convergence.of(small, target), by_sets).evidence for target in targets]
    coarse = [n for n, each in enumerate(found) if each.verdict is not Verdict.proved]
    simple = simplify(small, max(until.left, LEAST_SECONDS)) if coarse else small
    for place, n in enumerate(coarse):
        share = Deadline.after(until.left / (len(coarse) - place))
        height, width = sizes[n]

        def report(method: str, where: str = f"{height}×{width} cells") -> None:
            budget.progress(f"{where}: {method}")

        found[n] = prove(
            Convergence.of(simple, targets[n]), Budget(share, progress=report)
        ).evidence
    if not asked.all_sizes:
        return Decided(asked, tuple(found))
    budget.progress("all sizes")
    half = Deadline.after(deadline.left / (1 if extent.wound is None else 2))
    answer = prove(replace(plane, automaton=small, wound=extent.wound), Budget(half))
    everywhere = answer.evidence
    kept = answer.confinement
    if extent.wound is not None and (kept is None or kept.verdict is Verdict.open):
        budget.progress("damage")
        kept = confined(everywhere, found[0], extent.wound, budget)
    return Decided(asked, tuple(found), every_size=everywhere, confinement=kept)


def _on_own_grid(automaton: Automaton, goal: Question, extent: Extent, budget: Budget) -> Decided:
    """Answer a question that is not about every start."""
    wound = extent.wound
    holds = getattr(goal, "holds", isinstance(goal, Unfit))
    if extent.sizes or extent.all_sizes or (wound and not holds):
        what = "damage" if wound and not holds else "grids of other sizes"
        raise ConfigError(
            f"its task has no target that every start should end in, so {what} cannot be certified"
        )
    if wound is not None:
        if wound.side + 2 * wound.margin > min(automaton.height, automaton.width):
            raise ConfigError(
                f"--damage {wound.side} --margin {wound.margin}: no such square fits into "
                f"{automaton.height}×{automaton.width} cells"
            )
        goal = replace(goal, wound=wound) if isinstance(goal, ListedStarts) else goal
    answer = prove(goal, budget)
    kept = answer.confinement
    if wound is not None and kept is None:
        kept = Confinement(wound, Verdict.open)
    return Decided(extent, assurance=answer.assurance, evidence=answer.evidence, confinement=kept)


def _resting(automaton: Automaton, deadline: Deadline, height: int, width: int) -> Bits:
    """Return the state that a start of zeros ends in."""
    if automaton.held:
        held = ", ".join(map(str, automaton.held))
        raise CircuitError(
            f"what a start ends in depends on what channels {held} hold: use --task to name an "
            "experiment, which says what is right for every value of the held channels"
        )
    what = f"on {height}×{width} cells, a start of zeros"
    try:
        found = resting_picture(automaton, height, width, deadline)
    except OutOfTimeError:
        raise NoTargetError(
            f"{what} does not settle in the time, so the target is unknown: raise --time-limit, "
            "or use --task to name an experiment"
        ) from None
    if found is None:
        raise NoTargetError(
            f"{what} never settles, so there is no target: use --task to name an experiment"
        )
    return found
