"""Proofs that every start ends in the target and stays, of an automaton and its goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.cost import require_provable
from difflogic.circuit.specification import Cases
from difflogic.library.equality import proved, smaller
from difflogic.library.exchange import Progress, ProgressCallback, table, write_output
from difflogic.library.groups import Claims
from difflogic.proof.answer import Assurance, Budget, Confinement
from difflogic.proof.cases import ListedStarts
from difflogic.proof.certificates import damage_part, write_cases, write_certificate
from difflogic.proof.convergence.every_size import EverySize, Plane
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.convergence.live_part import live_part
from difflogic.proof.convergence.methods import SETS
from difflogic.proof.convergence.orbits import resting_picture
from difflogic.proof.every_length import EveryLength
from difflogic.proof.prover import Question, Unfit, confined, prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.callbacks import ignore
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, ConfigError

if TYPE_CHECKING:
    from difflogic.library.loaded import Loaded

GRIDS = "grids decided:"
"""Label of progress."""

SECONDS = 60.0
"""Default time limit for each grid, for all sizes, and for damage."""

SHORTEST = 0.001
"""Least time limit of a simplification."""

Targets = Callable[[int, int], Bits]
"""From rows and columns to the target of the visible channels."""


@dataclass(frozen=True)
class Certified:
    """What is proved about an automaton."""

    source: Loaded
    findings: tuple[Finding, ...]
    """One per grid; empty if the task has no target common to all starts."""
    assurance: Assurance | None = None
    """The verdict on a task without such a target."""
    evidence: Cases | EveryLength | None = None
    """All starts and targets of such a task, if they can be listed; or a proof about lines."""
    every_size: EverySize | None = None
    """With `all_sizes` or `damage`: what is known about all heights and widths."""
    assumed: str = ""
    """What it rests on that is not proved."""
    confinement: Confinement | None = None
    """With `damage`: whether it stays local."""

    def __repr__(self) -> str:
        return f"Certified({self.source.name!r}, {'proved' if self.proved else 'not proved'})"

    def _repr_html_(self) -> str:
        """Show the verdicts in a notebook."""
        rows = [
            {"cells": f"{each.question.height}×{each.question.width}", "verdict": each.verdict}
            for each in self.findings
        ]
        return table(rows) if rows else escape(repr(self))

    @property
    def proved(self) -> bool:
        """Whether everything asked for is proved."""
        proved = all(finding.verdict is Verdict.proved for finding in self.findings)
        others = (self.every_size, self.confinement)
        proved &= all(each is None or each.verdict is Verdict.proved for each in others)
        return proved and (self.assurance is None or self.assurance.proved)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the certificate of the first grid; `force` overwrites an earlier file.

        If all starts of the task can be listed, the certificate is a list of starts and targets.
        Raises CircuitError without a proof by sets or by all cases, since no other can be written,
        and RunDirectoryError if the file cannot be written.
        """
        write_output(path, self._text(), force)

    def _text(self) -> str:
        automaton = self.source.automaton
        if self.findings:
            more = {} if self.confinement is None else {"damage": self._damage(self.confinement)}
            return write_certificate(automaton, self.findings[0], more)
        if isinstance(self.evidence, EveryLength):
            return self.evidence.certificate()
        if self.assurance is not None and self.assurance.scope == "every size":
            raise CircuitError(
                f"{self.source.name}: {self.assurance.text}: there is no certificate to write: "
                "docs/local-rules.md has a checker that takes the circuit itself"
            )
        if self.evidence is None or not self.proved:
            verdict = "nothing" if self.assurance is None else self.assurance.text
            raise CircuitError(f"{self.source.name}: {verdict}: there is no stronger certificate")
        # A circuit file stays unchanged, so that the certificate matches it.
        small = live_part(automaton) if self.source.trained else automaton
        return write_cases(small, self.evidence)

    def _damage(self, found: Confinement) -> dict[str, Any]:
        """Return what a certificate says about damage, and the settled states of small grids."""
        if found.verdict is not Verdict.proved:
            raise CircuitError(f"{self.source.name}: {found.text}: there is no such certificate")
        table = None if self.every_size is None else self.every_size.table
        circuit = self.findings[0].question.circuit
        if found.synchronous or table is None or table.question.circuit is not circuit:
            raise CircuitError(
                f"{self.source.name}: a certificate is about damage on every grid, in any order of "
                "firing, which is not proved of the circuit that it has"
            )
        return damage_part(found, table)


def certified(
    loaded: Loaded,
    goal: Question | None,
    claims: Claims,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
    assumed: str = "",
) -> Certified:
    """Prove that every start ends in the target and stays, or find a state that does not.

    Without a goal, the target is the state that a start of zeros ends in. What is said of all sizes
    may rest on what is `assumed`. Options are as in `certify`.
    """
    automaton = loaded.automaton
    sizes, all_sizes, damage = claims.sizes, claims.all_sizes, claims.damage
    zeros = claims.contents == "zeros"
    if damage is None and (claims.margin or not zeros):
        raise ConfigError("--contents and --margin describe damage: give its side by --damage")
    if (all_sizes or damage is not None) and automaton.boundary != "zero":
        raise ConfigError("all sizes and damage can only be certified with a zero boundary")
    parts = max(1, len(sizes)) + (all_sizes or damage is not None) + (damage is not None)
    deadline = Deadline.after(SECONDS * parts if time_limit is None else time_limit)
    wound = None if damage is None else Wound(damage, margin=claims.margin, zeros=zeros)
    if goal is not None and not isinstance(goal, Plane):
        return _answered(loaded, goal, claims, wound, Budget(deadline), progress)
    grids = sizes or [(automaton.height, automaton.width)]
    for size in grids:
        require_provable(loaded.name, automaton.circuit, *size)
    until = Deadline.after(deadline.left * len(grids) / parts)
    plane = goal or Plane(automaton, _resting(automaton, deadline), 1, compared=False)
    small = live_part(automaton)
    if not proved(automaton, small.circuit, until.left, progress).equal:
        small = automaton
    by_sets = Budget(until, SETS.cost)
    found = [prove(Convergence.of(small, plane.target(*grid)), by_sets).evidence for grid in grids]
    if any(each.verdict is not Verdict.proved for each in found):
        # With fewer gates, sets lose fewer dependencies between signals.
        limit = max(until.left, SHORTEST)
        simpler, proof, _ = smaller(small, "low", limit, progress)
        simple = simpler.automaton if proof.equal else small
        for place, each in enumerate(found):

            def report(method: str, place: int = place) -> None:
                progress(Progress(GRIDS, place, len(grids), method))

            if each.verdict is not Verdict.proved:
                share = Deadline.after(until.left / (len(grids) - place))
                asked = Convergence.of(simple, each.question.target)
                found[place] = prove(asked, Budget(share, progress=report)).evidence
    findings = tuple(found)
    if not all_sizes and damage is None:
        return Certified(loaded, findings)
    half = Deadline.after(deadline.left / (1 if wound is None else 2))
    progress(Progress(GRIDS, len(grids), len(grids), "all sizes"))
    everywhere = prove(replace(plane, automaton=small), Budget(half)).evidence
    kept = None
    if wound is not None:
        progress(Progress(GRIDS, len(grids), len(grids), "damage"))
        kept = confined(everywhere, findings[0], wound, Budget(deadline))
    assumed = "" if everywhere.table is None else assumed
    return Certified(loaded, findings, None, None, everywhere, assumed, kept)


def _answered(
    loaded: Loaded,
    goal: Question,
    claims: Claims,
    wound: Wound | None,
    budget: Budget,
    progress: ProgressCallback,
) -> Certified:
    """Answer a question about an automaton on its own grid."""
    automaton, holds = loaded.automaton, getattr(goal, "holds", isinstance(goal, Unfit))
    if claims.sizes or claims.all_sizes or (wound and not holds):
        what = "damage" if wound and not holds else "grids of other sizes"
        raise ConfigError(
            f"{loaded.name}: its task has no target that every start should end in, so {what} "
            "cannot be certified"
        )
    if wound is not None:
        if wound.side + 2 * wound.margin > min(automaton.height, automaton.width):
            raise ConfigError(
                f"--damage {wound.side} --margin {wound.margin}: no such square fits into "
                f"{automaton.height}×{automaton.width} cells"
            )
        progress(Progress(GRIDS, 1, 1, "damage"))
    answer = prove(replace(goal, wound=wound) if isinstance(goal, ListedStarts) else goal, budget)
    kept = answer.confinement
    if wound is not None and kept is None:
        kept = Confinement(wound, Verdict.open)
    return Certified(loaded, (), answer.assurance, answer.evidence, confinement=kept)


def _resting(automaton: Automaton, deadline: Deadline) -> Targets:
    """Return a function from a grid to the state that a start of zeros ends in."""

    def target(height: int, width: int) -> Bits:
        what = f"on {height}×{width} cells, a start of zeros"
        try:
            found = resting_picture(automaton, height, width, deadline)
        except TimeoutError:
            raise CircuitError(
                f"{what} does not settle in the time, so the target is unknown: raise "
                "--time-limit, or use --task to name an experiment"
            ) from None
        if found is None:
            raise CircuitError(
                f"{what} never settles, so there is no target: use --task to name an experiment"
            )
        return found

    return target
