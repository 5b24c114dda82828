"""Tasks on a line of cells: two numbers and their sum, and what other machines print."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import Field

from difflogic.tasks.base import Bits, Exhibit, InapplicableError, Larger, Sample, Task
from difflogic.tasks.flood import fixed_channels
from difflogic.tasks.machine import MACHINES, Machine
from difflogic.tasks.rule import CANCELLING, TRAFFIC, Rule
from difflogic.tasks.sections import AutomatonConfig, Size, TaskSection

Computes = Literal[
    "addition", "subtraction", "parity", "comparison", "sorting", "majority", "voting"
]


class LineSection(TaskSection):
    """Bits along a line as start, the lowest on the right, and as target what is computed."""

    kind: Literal["line"] = Field(description="the task's name")
    computes: Computes = Field(
        description="what is computed: a + b or a - b, of as many bits as there are cells; whether "
        "the bits up to each cell have an odd number of ones; whether a > b, by the bits up to "
        "each; the same bits with the ones on the right; the most frequent bit, in the middle; "
        "who won a vote, on the left, in as many cells as the winner has more votes"
    )
    stages: tuple[Size, ...] = Field(
        default=(),
        strict=False,
        description="shorter lines that are learned before, in this order, each with as many steps "
        "fewer as it has cells less; a vote with three steps fewer for two cells",
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Refuse grids that are no line, stages that do not fit, channels that are none."""
        machine = MACHINES.get(self.computes)
        inputs = 1 if machine is None else machine.inputs
        found = fixed_channels(self) if self.computes in ("sorting", "majority") else []
        if self.height != 1:
            found.append(f"[task] height: a line has 1 row, not {self.height}")
        if automaton.steps < (needed := steps_of(self.computes, self.width)):
            found.append(
                f"[automaton] steps: {automaton.steps} steps are too few for {self.width} cells: "
                f"what is at one end has to reach the other, which takes {needed}"
            )
        if any(stage >= self.width for stage in self.stages):
            found.append(f"[task] stages: each must be shorter than the line of {self.width} cells")
        if automaton.channels <= inputs:
            found.append(
                f"[automaton] channels: {self.computes} has {inputs} channels that are given, and "
                f"needs more channels than {automaton.channels}"
            )
        if self.computes == "voting":
            if (self.inputs, self.loss_channels) != ((), (0, 1)):
                found.append(
                    "[task] loss_channels: votes move: inputs = [], loss_channels = [0, 1]"
                )
        elif len(self.loss_channels) != 1:
            found.append("[task] loss_channels: one channel shows the result: name one")
        if self.computes == "majority" and not all(n % 2 for n in (self.width, *self.stages)):
            found.append("[task] width: a line has a middle cell if it has an odd number of cells")
        return found


def steps_of(computes: str, width: int) -> int:
    """Return how many steps a line needs: a cell per step, where votes cancel one and a half."""
    return 3 * (width - 1) // 2 if computes == "voting" else width


class Line(Task):
    """Random bits in the first channels of a line, and what a machine prints that reads them."""

    Section = LineSection
    section: LineSection
    stays = True
    start = "zeros"  # a page or a simulation begins with no numbers: one paints them

    @cached_property
    def machine(self) -> Machine | None:
        return MACHINES.get(self.section.computes)

    @property
    def rule(self) -> Rule | None:
        # On a stage's short line some neighbourhoods never occur, so it may be solved otherwise.
        is_stage = self.width in self.section.stages
        if self.machine is not None or is_stage:
            return None
        return CANCELLING if self.section.computes == "voting" else TRAFFIC

    @property
    def stages(self) -> tuple[Task, ...]:
        return (*(self.on_grid(1, width) for width in self.section.stages), self)

    def on_grid(self, height: int, width: int, **changes: Any) -> Task:
        """Return the task on a line of another length, with as many steps more as cells."""
        if height != 1:
            raise InapplicableError("a line has one row")
        needed = [steps_of(self.section.computes, cells) for cells in (width, self.width)]
        steps = max(1, self.automaton.steps + needed[0] - needed[1])
        return super().on_grid(height, width, **{"steps": steps} | changes)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw fair bits for the inputs, the other channels 0; what is computed is the target.

        Bits that are sorted are in channel 1, and channel 0 is 1: it tells where the line ends. A
        vote for is 1 in channel 0, a vote against in channel 1, and an abstention in both.
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
        return start, self.result(self.machine, start)[None].astype(np.float64)

    def result(self, machine: Machine, start: Bits) -> Bits:
        """Return what a machine prints for a start (channels, 1, width), shape (1, width)."""
        numbers = sum(
            start[channel, 0, ::-1].astype(int) << channel for channel in range(machine.inputs)
        )
        return np.array([machine.run(np.asarray(numbers).tolist())[::-1]], np.uint8)

    def larger(self) -> Larger:
        large = self.on_grid(1, 4 * self.width)
        steps = large.automaton.steps
        return Larger(large, "4 × as many cells, and steps to match", (steps, steps + 1))

    @property
    def exhibit(self) -> Exhibit:
        words = "Show channel 0 and paint a number, the lowest bit on the right, then channel 1. "
        words += f"Show channel {self.loss_channels[0]}, and watch the carry run."
        if self.machine is None:
            words = "Show channel 0 and paint all cells, then some of channel 1, and press play."
        if self.section.computes == "voting":
            words = "Paint channel 0 for yes, channel 1 for no, both for an abstention; press play."
        view = {"brush": "ones", "size": 1, "width": 4 * self.width, "marks": False}
        return Exhibit(words, view=view)

    @property
    def title(self) -> str:
        return self.section.computes
