"""What a verdict answers: plain values for messages, JSON and proof files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import Boundary, Walls
from difflogic.system.array_types import Int64s
from difflogic.system.json_values import fields_of

Claim = Literal["stays", "shows", "holds", "heals", "computes", "obeys"]

CLAIMS: dict[Claim, str] = {
    "stays": "the target from some {unit} on",
    "shows": "the target at step {step}",
    "holds": "the target at step {step} and at every later one",
    "heals": "the target at step {step} and at every later one, and again after each of {damages} "
    "cases of damage",
    "computes": "what a machine prints, from step {step} on",
    "obeys": "the bounds of a rule at each step",
}
"""What is claimed of the visible channels."""

Schedule = Literal["all cells at each step", "every fair schedule", "every schedule"]


@dataclass(frozen=True)
class Asked:
    """A question about a circuit. A verdict covers what is named here, and nothing else."""

    claim: Claim
    starts: str
    """Such as "every start", "all 512 boards", "zeros"."""
    height: int | None
    width: int | None
    """Rows and columns of the grid; None for every number."""
    boundary: Boundary | Walls | None
    """None if it does not matter."""
    fire_rate: float
    visible: tuple[int, ...]
    """Labels of the visible channels, in the target's order."""
    step: int | str | None = None
    """When the target is due, as a number or in words; None if the answer says it."""
    damages: int = 0

    @classmethod
    def of(
        cls,
        made: Automaton,
        claim: Claim,
        starts: str,
        size: tuple[int | None, int | None] = (None, None),
        step: int | str | None = None,
    ) -> Asked:
        """Ask about an automaton, on a grid of a size or of any."""
        (height, width) = size
        return cls(
            claim, starts, height, width, made.boundary, made.fire_rate, made.visible, step=step
        )

    @property
    def unit(self) -> str:
        """What the steps of an answer are; in a round every cell fires at least once."""
        return "step" if self.fire_rate == 1 or self.claim != "stays" else "round"

    @property
    def schedule(self) -> Schedule:
        """Which cells fire when. At a fire rate below 1 any cells may, at any step."""
        if self.fire_rate == 1:
            return "all cells at each step"
        return "every fair schedule" if self.claim == "stays" else "every schedule"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON and for proof files."""
        return fields_of(self, "schedule", "unit")

    def __str__(self) -> str:
        what = CLAIMS[self.claim].format(unit=self.unit, step=self.step, damages=self.damages)
        sides = ["any" if side is None else side for side in (self.height, self.width)]
        boundary = "any" if self.boundary is None else self.boundary
        channels = ", ".join(map(str, self.visible))
        return (
            f"{what}, from {self.starts}; {sides[0]}×{sides[1]} cells, {boundary} boundary, "
            f"{self.schedule}, visible {channels}"
        )


REACHES = (3, 6)
"""How far damage may reach, the first that can be proved."""


@dataclass(frozen=True)
class Wound:
    """Asks whether damage to a square of `side` cells stays local."""

    side: int
    reach: int = REACHES[0]
    """Most cells from the square to a wrong one."""
    margin: int = 0
    """Least cells from the square to an edge."""
    zeros: bool = True
    """Whether its bits become zeros; otherwise they may be anything."""

    @property
    def frame(self) -> int:
        """Cells around the square in a window."""
        return self.reach + 2

    @property
    def size(self) -> int:
        """Rows and columns of a window."""
        return self.side + 2 * self.frame

    def distances(self, height: int, width: int, row: int, column: int) -> Int64s:
        """Return how far each cell of a grid is from the square that begins here."""
        y, x = np.indices((height, width)) - np.array([row, column])[:, None, None]
        ways = -y, y - self.side + 1, -x, x - self.side + 1
        return np.asarray(np.max([*ways, 0 * x], axis=0))

    @property
    def text(self) -> str:
        """The damage in words."""
        return f"a wound of {self.side}×{self.side} " + (
            "zeroed cells" if self.zeros else "cells with any content"
        )
