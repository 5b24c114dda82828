"""Tasks on a line of cells: two numbers and their sum, and what other machines print."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import Field

from difflogic.tasks.base import Bits, Exhibit, InapplicableError, Larger, Sample, Task
from difflogic.tasks.machine import MACHINES, Machine
from difflogic.tasks.sections import AutomatonConfig, Size, TaskSection


class LineSection(TaskSection):
    """Bits along a line as start, the lowest on the right, and as target what is computed."""

    kind: Literal["line"] = Field(description="the task's name")
    computes: Literal["addition", "subtraction", "parity", "comparison"] = Field(
        description="what is computed: a + b or a - b, of as many bits as there are cells; whether "
        "the bits up to each cell have an odd number of ones; whether a > b, by the bits up to each"
    )
    stages: tuple[Size, ...] = Field(
        default=(),
        strict=False,
        description="shorter lines that are learned before, in this order, each with as many steps "
        "fewer as it has cells less",
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Refuse grids that are no line, stages that do not fit, channels that are none."""
        inputs = MACHINES[self.computes].inputs
        found = []
        if self.height != 1:
            found.append(f"[task] height: a line has 1 row, not {self.height}")
        if automaton.steps < self.width:
            found.append(
                f"[automaton] steps: {automaton.steps} steps are too few for {self.width} cells: "
                "what is at one end has to reach the other, a cell per step"
            )
        if any(stage >= self.width for stage in self.stages):
            found.append(f"[task] stages: each must be shorter than the line of {self.width} cells")
        if automaton.channels <= inputs:
            found.append(
                f"[automaton] channels: {self.computes} has {inputs} inputs, in channels of their "
                f"own, and needs more channels than {automaton.channels}"
            )
        if len(self.loss_channels) != 1:
            found.append("[task] loss_channels: one channel shows the result: name one")
        return found


class Line(Task):
    """Random bits in the first channels of a line, and what a machine prints that reads them."""

    Section = LineSection
    section: LineSection
    stays = True
    start = "zeros"  # a page or a simulation begins with no numbers: one paints them

    @cached_property
    def machine(self) -> Machine:
        return MACHINES[self.section.computes]

    @property
    def stages(self) -> tuple[Task, ...]:
        return (*(self.on_grid(1, width) for width in self.section.stages), self)

    def on_grid(self, height: int, width: int, **changes: Any) -> Task:
        """Return the task on a line of another length, with as many steps more as cells."""
        if height != 1:
            raise InapplicableError("a line has one row")
        steps = self.automaton.steps + width - self.width
        return super().on_grid(height, width, **{"steps": steps} | changes)

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw fair bits for the inputs, the other channels 0; what is computed is the target."""
        inputs = self.machine.inputs
        start = np.zeros((self.channels, 1, self.width), np.uint8)
        start[:inputs] = rng.integers(0, 2, (inputs, 1, self.width), dtype=np.uint8)
        return start, self.result(start)[None].astype(np.float64)

    def result(self, start: Bits) -> Bits:
        """Return what a start (channels, 1, width) is to show, shape (1, width)."""
        inputs = range(self.machine.inputs)
        numbers = sum(start[channel, 0, ::-1].astype(int) << channel for channel in inputs)
        return np.array([self.machine.run(np.asarray(numbers).tolist())[::-1]], np.uint8)

    def larger(self) -> Larger:
        large = self.on_grid(1, 4 * self.width)
        steps = large.automaton.steps
        return Larger(large, "4 × as many cells, and steps to match", (steps, steps + 1))

    @property
    def exhibit(self) -> Exhibit:
        return Exhibit("Paint two numbers, press play, and watch the carry run.")

    @property
    def title(self) -> str:
        return self.section.computes
