"""Proves what a joined circuit shows, from proofs about its parts: docs/regions.md has the theorem.

Nothing reads the held channels but what is shown, and that only the cell's own. So the parts run as
they do alone, whatever is painted, and each is proved alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import center_start
from difflogic.circuit.regions import alone
from difflogic.circuit.specification import Cases
from difflogic.formats.circuit_file import write_circuit
from difflogic.proof.answer import TIME_IS_UP, Answer, Assurance, Budget, Scope, left_open
from difflogic.proof.certificates import proof_text
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.orbits import orbit, resting_picture
from difflogic.proof.convergence.planes import pack
from difflogic.proof.decided import Decided, Extent, decide
from difflogic.proof.question import Asked
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, ConfigError, OutOfTimeError, errors_about

EVERY_VALUE = "for every value of the held channels"


@dataclass(frozen=True, eq=False)
class Region:
    """A part, and what is proved of it."""

    name: str
    automaton: Automaton
    decided: Decided | None = None
    """What is proved for every start, or else for its own start on its own grid."""
    reason: str = ""
    """Why neither is."""

    @property
    def own(self) -> bool:
        """Whether it is proved for its own start only."""
        return self.decided is not None and self.decided.assurance is not None

    def from_step(self, height: int, width: int) -> int:
        """Return the step, or round, from which a grid that is proved shows what it ends in."""
        found = self.decided
        assert found is not None, "it is proved"
        if found.every_size is not None and found.every_size.proof is not None:
            return found.every_size.proof.from_step(height, width)
        sizes = {(each.question.height, each.question.width): each for each in found.findings}
        return (found.assurance or sizes[height, width]).from_step or 0

    def proof(self) -> dict[str, Any]:
        """Return the certificate of the part. Raises CircuitError if there is none."""
        assert self.decided is not None, "it is proved"
        found: dict[str, Any] = json.loads(self.decided.certificate(self.automaton, True))
        if found["circuit"] != json.loads(write_circuit(self.automaton)):
            raise CircuitError("it was proved of a smaller circuit: simplify the joined one")
        return found


@dataclass(frozen=True, eq=False)
class Regions:
    """What is known of a joined circuit: all of its parts, and one for each code left over."""

    automaton: Automaton
    regions: Sequence[Region]

    @cached_property
    def starts(self) -> str:
        own = any(each.own for each in self.regions)
        return f"its own start, {self.automaton.start}" if own else "every start"

    def asked(self, height: int | None, width: int | None, step: int | str | None = None) -> Asked:
        starts = f"{self.starts}, {EVERY_VALUE}"
        return Asked.of(self.automaton, "stays", starts, (height, width), step)

    def certificate(self) -> str:
        """Return the proof as JSON text: that of each part, for a checker that joins them."""
        proofs = []
        for each in self.regions:
            with errors_about(each.name):
                proofs.append(each.proof())
        questions = [proof["question"] for proof in proofs]
        sides = [(each["height"], each["width"]) for each in questions if each["height"]]
        height, width = sides[0] if sides else (None, None)
        steps = [each["step"] for each in questions]
        firings = max([int(each.split()[0]) for each in steps if isinstance(each, str)], default=0)
        step: int | str = f"{firings} · (m + n - 1)"
        if sides:
            last = firings * (sum(sides[0]) - 1)
            step = max([last, *(each for each in steps if isinstance(each, int))])
        asked = self.asked(height, width, step)
        return proof_text("dct-regions", self.automaton, asked, {}, "parts", proofs)


def decide_regions(
    automaton: Automaton,
    extent: Extent,
    budget: Budget,
    simplify: Callable[[Automaton, float], Automaton],
) -> Decided:
    """Prove that each cell of a joined circuit shows what its part alone ends in, and keeps it.

    The target of a part is what a start of zeros ends in. A part that is not proved for every start
    may be for its own, on its own grid, unless more is asked.
    """
    if extent.wound is not None:
        raise ConfigError("--damage: damage to a joined circuit is that to its parts: ask of these")
    found = []
    codes = 2 ** len(automaton.held)
    for code in range(codes):
        number = min(code, len(automaton.parts) - 1)
        name = f"part {number + 1} ({automaton.parts[number]})"
        budget.progress(name)
        try:
            part = alone(automaton, code)
        except CircuitError as error:
            return _decided(left_open(str(error)))
        share = Deadline.after(budget.deadline.left / (codes - code))
        found.append(_proved(Region(name, part), extent, replace(budget, deadline=share), simplify))
    regions = Regions(automaton, found)
    failed = {each.name: each.reason for each in found if each.reason}
    everywhere = extent.all_sizes
    grid = (automaton.height, automaton.width)
    sizes = extent.sizes or [grid]
    asked = regions.asked(None, None) if everywhere else regions.asked(*sizes[0])
    if failed:
        text = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        return _decided(left_open(text, asked=asked))
    steps = [max(each.from_step(*size) for each in found) for size in sizes]
    cells = [
        f"on {height}×{width} cells from {asked.unit} {step} on"
        for (height, width), step in zip(sizes, steps, strict=True)
    ]
    own = [each.name for each in found if each.own]
    where = ["on every grid"] * everywhere + cells
    text = (
        f"proved {EVERY_VALUE}: from {regions.starts}, each cell ends in what its part alone ends "
        f"in there, {', '.join(where)}, and one {asked.unit} after it is repainted"
    )
    if own:
        text += f"; from every start without {', '.join(dict.fromkeys(own))}"
    scope: Scope = "the only start" if own else "every start"
    known = Assurance(Verdict.proved, scope, text, "its parts", steps[0], asked=asked)
    return _decided(Answer(known, regions))


def _decided(answer: Answer) -> Decided:
    """The answer is about all grids that were asked."""
    return Decided(Extent(), assurance=answer.assurance, evidence=answer.evidence)


def _proved(
    region: Region,
    extent: Extent,
    budget: Budget,
    simplify: Callable[[Automaton, float], Automaton],
) -> Region:
    """Return a part with its proof, or the reason why there is none."""
    part = region.automaton
    try:
        decided = decide(part, None, extent, budget, simplify)
    except CircuitError as error:
        return replace(region, reason=str(error))
    if decided.proved:
        return replace(region, decided=decided)
    whole = not (extent.sizes or extent.all_sizes) and part.fire_rate == 1
    own = _own_start(part, budget.deadline) if whole and part.start != "random" else None
    if own is not None:
        return replace(region, decided=own)
    everywhere = decided.every_size
    reason = "not proved for every start"
    if everywhere is not None:
        reason = everywhere.text
    elif budget.deadline.passed:
        reason = f"{reason}: {TIME_IS_UP}"
    return replace(region, reason=reason)


def _own_start(part: Automaton, until: Deadline) -> Decided | None:
    """Return what its own start ends in, and from which step on; None if that is not known."""
    labels = list(part.circuit.labels)
    start = np.zeros((max(labels) + 1, part.height, part.width), np.uint8)
    if part.start == "center":
        start = center_start(*start.shape)
    try:
        target = resting_picture(part, part.height, part.width, until, start[labels])
    except OutOfTimeError:
        return None
    if target is None:
        return None
    goal = Convergence.of(part, target)
    found = orbit(goal, pack(goal.board, start[labels]), until)
    if found is None or found.right_from is None:
        return None
    steps = max(1, found.right_from)
    note = "There is one start only, and nothing random."
    cases = Cases("the only start", start[None], target[None], part.boundary, steps, note)
    known = Assurance(Verdict.proved, "the only start", note, "a run", steps)
    return Decided(Extent(), assurance=known, evidence=cases)
