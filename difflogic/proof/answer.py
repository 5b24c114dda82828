"""Answers, in the words that every command prints, and what methods that find them have to say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from difflogic.proof.convergence.orbits import LASTING, NOT_KNOWN
from difflogic.proof.question import Asked, Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.json_values import fields_of
from difflogic.system.quantities import counted
from difflogic.system.work import ignore

Scope = Literal[
    "every start", "the only start", "every case", "every length", "every size", "samples"
]
"""The starts that a verdict covers; samples alone prove nothing."""

TIME_IS_UP = "the time was up"


@dataclass(frozen=True)
class Healing:
    """Whether and when damages by patches of one size grow back."""

    side: int
    """Side of the square patch, in cells."""
    states: int
    """Number of damaged states: all states of the run from the training step on."""
    steps: tuple[int, ...]
    """For each place, the most steps until the target is back for good, LASTING or NOT_KNOWN."""

    @property
    def damages(self) -> int:
        """Number of places; damages of different states at the same place count once."""
        return len(self.steps)

    @property
    def lasting(self) -> int:
        """Number of places where the damage of some state does not grow back."""
        return self.steps.count(LASTING)

    @property
    def unknown(self) -> int:
        """Number of places about which nothing is known, as the run never repeated."""
        return self.steps.count(NOT_KNOWN)

    @property
    def within(self) -> int:
        """Steps after which every damage that is known to grow back has done so."""
        return max(0, *self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return fields_of(self, "damages", "lasting", "unknown", "within")


@dataclass(frozen=True)
class Assurance:
    """What is known about a circuit beyond samples."""

    verdict: Verdict
    scope: Scope
    text: str
    """The result in words, such as "proved for every start from step 18 on"."""
    method: str | None = None
    from_step: int | None = None
    """The step from which the target stays, if known."""
    any_schedule: bool = False
    """Whether it holds for any order of firing, with rounds in place of steps."""
    period: int | None = None
    """With one start: the period of its states."""
    healing: tuple[Healing, ...] = ()
    """If the target must grow back: the results for each size of damage."""
    asked: Asked | None = None
    """The question; None if there are samples only."""
    confined: bool | None = None
    """Whether damage is proved to stay local; None if nobody asked."""

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.proved


@dataclass(frozen=True, eq=False)
class Witness:
    """A run, by the plain interpreter, in which a cell too far away is wrong."""

    start: Bits
    """The first state, shape (channels, height, width)."""
    settled: int
    """After how many steps of all cells it has settled, and is wounded."""
    wounded: Bits
    """The state then, with the wound."""
    row: int
    column: int
    """Where the square begins."""
    fired: Bits
    """Which cells fire at each step from then on, (steps, height, width)."""
    cell: tuple[int, int]
    """Row and column of a cell that is wrong then."""


@dataclass(frozen=True)
class Confinement:
    """The answer."""

    wound: Wound
    verdict: Verdict
    margin: int | None = None
    """Cells from the edges from which on it is proved; None if it is nowhere."""
    reach: int = 0
    """Cells from a square to the farthest that is ever wrong, where it is proved."""
    rounds: int = 0
    """Rounds, or steps, after which no cell is wrong again, where it is proved."""
    windows: int = 0
    witness: Witness | None = None
    where: str = "every grid"
    synchronous: bool = False
    reason: str = ""
    """Why it is open, if sets of values do not say it."""

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.proved

    @property
    def in_any_order(self) -> bool:
        """Whether it is proved for cells that fire in any order."""
        return self.proved and not self.synchronous

    @property
    def text(self) -> str:
        """The result in words."""
        kept = ""
        wound = self.wound.text
        if self.margin is not None:
            off = f" at least {counted(self.margin, 'cell')} from the edges" if self.margin else ""
            away = f"cells more than {self.reach} away" if self.reach else "a cell outside it"
            after = counted(self.rounds, "step" if self.synchronous else "round")
            how = (
                "if all cells fire at each step" if self.synchronous else "under any fair schedule"
            )
            kept = (
                f"{wound}{off} never reaches {away}, and is closed after {after}, {how}, "
                f"on {self.where}"
            )
        if self.verdict is Verdict.proved:
            return kept
        failed = f"it is not proved that {wound} stays local on {self.where}"
        failed += f": {self.reason}" if self.reason else ""
        if self.witness is not None:
            run = self.witness
            (_, height, width) = self.witness.start.shape
            far = self.wound.distances(height, width, run.row, run.column)[run.cell]
            failed = (
                f"fails: on {height}×{width} cells, {wound} from row {run.row}, column "
                f"{run.column} on makes a cell wrong that is {far} away, after "
                f"{counted(len(run.fired), 'step')}"
            )
        return f"{failed}; {kept}" if kept else failed


@dataclass(frozen=True)
class Answer:
    """What is known, and what a certificate needs."""

    assurance: Assurance
    evidence: Any = None
    """The finding, if it says more: of one grid, of every size or of every length."""
    confinement: Confinement | None = None
    outcome: str = "decided"
    """What came of the last method."""

    @property
    def verdict(self) -> Verdict:
        return self.assurance.verdict


def left_open(reason: str, scope: Scope = "samples", **known: Any) -> Answer:
    """Return an answer that leaves the question open."""
    return Answer(Assurance(Verdict.open, scope, f"not proved: {reason}", **known))


@dataclass(frozen=True)
class Budget:
    """What a question may cost."""

    deadline: Deadline = NEVER
    """With NEVER, only methods that need no clock are asked: any machine gives the same answer."""
    most: float = math.inf
    """Cost of the dearest method that may be asked."""
    progress: Callable[[str], object] = ignore
    """Gets the name of each method when it begins."""

    @property
    def clocked(self) -> bool:
        return self.deadline is not NEVER


QUICK = Budget()


@dataclass(frozen=True)
class Method:
    """A proof, or a search for a counterexample."""

    name: str
    cost: float
    """CPU seconds for a small circuit, about; cheap methods are asked first."""
    answers: Callable[[Any], bool]
    """Whether it answers a question."""
    decide: Callable[[Any, Budget, Answer | None], Answer | str]
    """Takes question, budget, and what the method before found; returns why if it does not decide.

    Raises OutOfTimeError.
    """
    needs_clock: bool = False
    """Whether it may go on for long."""
