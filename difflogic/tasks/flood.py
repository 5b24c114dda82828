"""Mazes: all cells that are connected to a lit one light up, or all dead ends go out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from difflogic.tasks.base import Exhibit, Sample, Task
from difflogic.tasks.rule import DEAD_ENDS, FLOOD, Rule, fill, spread
from difflogic.tasks.sections import AutomatonConfig, TaskSection


class FloodSection(TaskSection):
    """Mazes with a lit cell as start, and as target all cells that are connected to it."""

    kind: Literal["flood"] = Field(description="the task's name")
    passages: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.65, description="probability that a cell of a maze is no wall"
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Refuse channels that mean something else."""
        return fixed_channels(self)


class Flood(Task):
    """Random mazes in channel 0, which stay; light in channel 1 spreads from one cell.

    A cell that is connected, but too far away to be lit after the steps of training, does not
    count.
    """

    Section: ClassVar[type[TaskSection]] = FloodSection
    section: FloodSection
    stays = True
    start = "zeros"  # a page or a simulation begins with walls: one paints passages

    @property
    def rule(self) -> Rule:
        return FLOOD

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a maze and its lit cell; what is lit after the training steps is the target."""
        starts, targets = self.draw_all([rng])
        return starts[0], targets[0]

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Draw each maze from its own stream, and flood all of them at once."""
        size, starts = (self.height, self.width), []
        for rng in rngs:
            start = np.zeros((self.channels, *size), np.uint8)
            start[0] = rng.random(size) < self.section.passages
            start[(slice(2), *rng.integers(0, size))] = 1
            starts.append(start)
        free, light = np.stack(starts)[:, :2].swapaxes(0, 1)
        near = spread(free, light, self.automaton.steps)
        far = spread(free, near) > near
        return np.stack(starts), np.where(far, np.nan, near)[:, None]

    @property
    def exhibit(self) -> Exhibit:
        return Exhibit(
            "Show channel 0 and paint passages, then one lit cell of channel 1, and press play.",
            view={"brush": "ones", "size": 1, "height": 32, "width": 32, "marks": False},
        )


class DeadEndsSection(FloodSection):
    """Mazes with two marks as start, and as target the same mazes without dead ends."""

    kind: Literal["dead-ends"] = Field(description="the task's name")  # type: ignore[assignment]


class DeadEnds(Flood):
    """Random mazes in channel 1, and two marks in channel 0, which stay: dead ends go out.

    A dead end that would last longer than training looks does not count.
    """

    Section = DeadEndsSection

    @property
    def rule(self) -> Rule:
        return DEAD_ENDS

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Draw each maze from its own stream, and fill the dead ends of all of them at once."""
        size, starts = (self.height, self.width), []
        for rng in rngs:
            start = np.zeros((self.channels, *size), np.uint8)
            start[1] = rng.random(size) < self.section.passages
            start[(slice(2), *rng.integers(0, size, (2, 2)).T[:, None])] = 1
            starts.append(start)
        marks, free = np.stack(starts)[:, :2].swapaxes(0, 1)
        near = fill(marks, free, self.automaton.steps)
        return np.stack(starts), np.where(fill(marks, near) < near, np.nan, near)[:, None]

    @property
    def exhibit(self) -> Exhibit:
        words = "Show channel 1 and paint a maze, then two marks in both channels, and press play."
        return replace(super().exhibit, invitation=words)


def fixed_channels(section: TaskSection) -> list[str]:
    """Return what keeps a section from holding channel 0 and showing channel 1."""
    if section.inputs == (0,) and section.loss_channels == (1,):
        return []
    return [
        "[task] inputs: channel 0 is given and channel 1 is shown: inputs = [0] and "
        "loss_channels = [1]"
    ]
