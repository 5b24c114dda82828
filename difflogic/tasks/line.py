"""Tasks on a line of cells: arithmetic as machines do it, sorting, and voting."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from difflogic.circuit.specification import Bounds, Machine, Rule
from difflogic.system.array_types import Bits
from difflogic.system.quantities import counted
from difflogic.tasks.base import Larger, Task
from difflogic.tasks.flood import CENTER, E, W, fixed_channels
from difflogic.tasks.parts import Exhibit, InapplicableError, Sample
from difflogic.tasks.section import AutomatonConfig, Size, TaskSection

Computes = Literal[
    "addition", "subtraction", "parity", "comparison", "sorting", "majority", "voting"
]

ADDITION = Machine(2, ((0, 0, 0, 1), (0, 1, 1, 1)), ((0, 1, 1, 0), (1, 0, 0, 1)))
"""The state is the carry."""

SUBTRACTION = Machine(2, ((0, 0, 1, 0), (1, 0, 1, 1)), ((0, 1, 1, 0), (1, 0, 0, 1)))
"""The first number minus the second; the state is the borrow."""

PARITY = Machine(1, ((0, 1), (1, 0)), ((0, 1), (1, 0)))
"""Whether the bits from the right end up to and including a cell have an odd number of ones."""

COMPARISON = Machine(2, ((0, 1, 0, 0), (1, 1, 0, 1)), ((0, 1, 0, 0), (1, 1, 0, 1)))
"""Whether the first number is greater, by the bits from the right end up to a cell."""

MACHINES = {
    "addition": ADDITION,
    "subtraction": SUBTRACTION,
    "parity": PARITY,
    "comparison": COMPARISON,
}


class LineSection(TaskSection):
    """Start: bits along a line, lowest bit on the right. Target: what is computed from them."""

    kind: Literal["line"] = Field(description="the task's name")
    computes: Computes = Field(
        description="addition, subtraction: a + b or a - b, one bit per cell; parity: whether "
        "the bits up to each cell have an odd number of ones; comparison: whether a > b, by the "
        "bits up to each cell; sorting: the same bits with the ones on the right; majority: the "
        "most frequent bit, in the middle cell; voting: the winner, in as many of the leftmost "
        "cells as it has votes more than the loser"
    )
    stages: tuple[Size, ...] = Field(
        default=(),
        strict=False,
        description="widths of shorter lines to learn first, in this order. A line one cell "
        "shorter takes one step fewer; in voting, two cells shorter means three steps fewer",
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check the grid, the steps, the stages and the channels."""
        machine = MACHINES.get(self.computes)
        inputs = 1 if machine is None else machine.inputs
        found = fixed_channels(self) if self.computes in ("sorting", "majority") else []
        if self.height != 1:
            found.append(f"[task] height: a line has 1 row, not {self.height}")
        if automaton.steps < (needed := steps_of(self.computes, self.width)):
            found.append(
                f"[automaton] steps: {automaton.steps} steps are too few for {self.width} cells: "
                f"use {needed} or more, to get from one end to the other"
            )
        if any(stage >= self.width for stage in self.stages):
            found.append(f"[task] stages: each must be shorter than the line of {self.width} cells")
        if automaton.channels <= inputs:
            found.append(
                f"[automaton] channels: {self.computes} has {counted(inputs, 'input channel')} and "
                f"needs others: set channels to {inputs + 1} or more"
            )
        if self.computes == "voting":
            if (self.inputs, self.loss_channels) != ((), (0, 1)):
                found.append(
                    "[task] loss_channels: votes move in both channels: set inputs = [] and "
                    "loss_channels = [0, 1]"
                )
        elif len(self.loss_channels) != 1:
            found.append("[task] loss_channels: the result is one channel: list one")
        if self.computes == "majority" and not all(n % 2 for n in (self.width, *self.stages)):
            found.append("[task] width: majority needs a middle cell: use odd numbers of cells")
        return found


def steps_of(computes: str, width: int) -> int:
    """Return how many steps a line needs: one per cell, or 1.5 when votes cancel."""
    return 3 * (width - 1) // 2 if computes == "voting" else width


class Line(Task):
    """Random bits in the first channels of a line, and the result of a computation on them."""

    Section = LineSection
    section: LineSection
    stays = True
    start = "zeros"  # pages and simulations begin without numbers, and the user paints them

    @cached_property
    def machine(self) -> Machine | None:
        return MACHINES.get(self.section.computes)

    @property
    def rule(self) -> Rule | None:
        # Some neighbourhoods never occur on a stage's short line, so other rules may solve it.
        is_stage = self.width in self.section.stages
        if self.machine is not None or is_stage:
            return None
        return CANCELLING if self.section.computes == "voting" else TRAFFIC

    @property
    def stages(self) -> tuple[Task, ...]:
        return (*(self.on_grid(1, width) for width in self.section.stages), self)

    def on_grid(self, height: int, width: int, **changes: Any) -> Self:
        """Return the task on a line of another length, with more or fewer steps to match."""
        if height != 1:
            raise InapplicableError("a line has one row")
        needed = [steps_of(self.section.computes, cells) for cells in (width, self.width)]
        steps = max(1, self.automaton.steps + needed[0] - needed[1])
        return super().on_grid(height, width, **{"steps": steps} | changes)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw fair bits for the inputs, with 0 in other channels. The target is the result.

        Bits to sort are in channel 1, and channel 0 is 1, to show where the line ends. A yes vote
        is 1 in channel 0, a no vote is 1 in channel 1, and an abstention is 1 in both.
        """
        start = np.zeros((self.channels, 1, self.width), np.uint8)
        if self.section.computes == "voting":
            votes = rng.integers(-1, 2, self.width)
            start[:2, 0] = votes >= 0, votes <= 0
            place = np.arange(self.width)
            return start, np.array([[place >= -votes.sum()], [place >= votes.sum()]], np.float64)
        if self.machine is None:
            start[0] = 1
            start[1] = rng.integers(0, 2, (1, self.width), dtype=np.uint8)
            target = np.sort(start[1:2].astype(np.float64))
            if self.section.computes == "majority":
                target[..., np.arange(self.width) != self.width // 2] = np.nan
            return start, target
        inputs = self.machine.inputs
        start[:inputs] = rng.integers(0, 2, (inputs, 1, self.width), dtype=np.uint8)
        return start, _run(self.machine, start)[None].astype(np.float64)

    def larger(self) -> Larger:
        large = self.on_grid(1, 4 * self.width)
        steps = large.automaton.steps
        return Larger(large, "4 × as many cells, and steps to match", (steps, steps + 1))

    @property
    def exhibit(self) -> Exhibit:
        view: dict[str, Any] = {"brush": "ones", "size": 1, "width": 4 * self.width, "marks": False}
        if self.machine is not None and self.machine.inputs == 2:
            words = "Enter two numbers, and watch the carry run. The lowest bit is on the right."
            view["numbers"] = [27, 15]
        elif self.machine is not None:
            words = "Press play; then paint a number of your own in channel 0, and play again."
        elif self.section.computes == "voting":
            words = (
                "Votes cancel. Channel 0 is yes, channel 1 no, both an abstention: paint your own."
            )
        else:
            words = "They sort the ones of channel 1 to the right. Paint more of them, and watch."
        return Exhibit(words, view=view)

    @property
    def title(self) -> str:
        return self.section.computes


def _run(machine: Machine, start: Bits) -> Bits:
    """Return what a machine prints for a start (channels, 1, width), shape (1, width)."""
    numbers = sum(
        start[channel, 0, ::-1].astype(int) << channel for channel in range(machine.inputs)
    )
    return np.array([machine.run(np.asarray(numbers).tolist())[::-1]], np.uint8)


def traffic(given: Bits, shown: Bits) -> Bounds:
    """Ones move one cell to the right if that cell has 0 (rule 184); none leaves the line.

    The given bits are 1 in all cells of the line, at least two, and 0 beyond it.
    """
    legal = _line(given) & (shown <= given).all(axis=0)
    new = np.where(shown[CENTER], shown[E] | (1 - given[E]), shown[W]).astype(np.uint8)
    return Bounds(legal, *[np.stack([given[CENTER], new])] * 2)


def cancelling(yes: Bits, no: Bits) -> Bounds:
    """A vote moves left if the cell there has no vote of its kind; two that meet cancel.

    A cell with a vote has 1 in one channel, a cell without a vote has 1 in both, and the cells
    beyond the line have 0.
    """
    here = []
    for mine, other in ((yes, no), (no, yes)):
        ahead = other[W] == 0  # a vote of the kind, or the end
        here.append(np.where(other[CENTER] == 0, ahead, mine[E] & (1 - other[E])))
    new = 1 - np.stack([here[1] & (1 - here[0]), here[0] & (1 - here[1])]).astype(np.uint8)
    return Bounds(_line(yes | no), new, new)


def _line(cells: Bits) -> Bits:
    """Return for which neighbourhoods the cells with 1 are part of a line of at least two."""
    others = [n for n in range(9) if n not in (W, CENTER, E)]
    legal: Bits = cells[CENTER] & (cells[W] | cells[E]) & (1 - cells[others].max(axis=0))
    return legal.astype(np.uint8)


TRAFFIC = Rule(traffic, "length n from 2 on, from step n - 1 on")
CANCELLING = Rule(cancelling, "length n from 2 on, from step 3(n - 1)/2 on")
