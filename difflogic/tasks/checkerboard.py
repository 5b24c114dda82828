"""The checkerboard: from noise in all channels to a regular pattern of squares."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
from pydantic import Field

from difflogic.system.array_types import Bits, Float64s
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit, Sample
from difflogic.tasks.section import AutomatonConfig, Size, TaskSection
from difflogic.tasks.wounds import CODE_CHANNELS, Contents, Wounds


class CheckerboardSection(TaskSection):
    """Start: random bits. Target: a checkerboard in each loss channel."""

    kind: Literal["checkerboard"] = Field(description="the task's name")
    square: Size = Field(default=2, description="side of one square of the checkerboard, in cells")

    wounds: Contents = Field(
        default="none",
        description="which wounds single steps of wounded boards teach to close where they are: "
        "none, or squares of any content",
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check that a square fits the grid, and that wounds can be taught."""
        found = []
        most = min(self.height, self.width)
        if self.square > most:
            found.append(
                f"[task] square: a square of {self.square} cells does not fit a grid of "
                f"{self.height}×{self.width}: use at most {most}"
            )
        asked = automaton.channels, automaton.boundary, self.loss_channels
        if self.wounds != "none" and (asked != (CODE_CHANNELS, "zero", (0,)) or self.square > 2):
            found.append(
                f"[task] wounds: teaching needs {CODE_CHANNELS} channels, a zero boundary, loss "
                'channel 0 and squares of at most 2 cells: use "none"'
            )
        return found


class Checkerboard(Task):
    """From random bits to a checkerboard in each loss channel, which should stay."""

    Section = CheckerboardSection
    section: CheckerboardSection
    stays = True
    published_robustness = MappingProxyType(
        {"asynchronously trained": 676, "synchronously trained": 1107}
    )
    """Of 4096 cells; Miotti et al. 2025."""

    @cached_property
    def target(self) -> Float64s:
        """Shape (loss channels, height, width): (x//square + y//square) % 2, read-only."""
        y, x = np.indices((self.height, self.width)) // self.section.square
        board = ((x + y) % 2).astype(np.float64)
        return np.broadcast_to(board, (len(self.loss_channels), *board.shape))

    @cached_property
    def lessons(self) -> Task:
        if self.section.wounds == "none":
            return self
        return Wounds(self, self.section.square)

    @property
    def asks_every_size(self) -> bool:
        return self.section.wounds != "none" and self.automaton.boundary == "zero"

    @property
    def lasting_target(self) -> Bits:
        return self.target.astype(np.uint8)

    @property
    def lasting_period(self) -> int:
        return 2 * self.section.square

    @property
    def exhibit(self) -> Exhibit:
        return Exhibit(
            "From random cells they agree on a checkerboard. Drag over it to wound it, and watch "
            "it heal.",
            {"kind": "checkerboard", "square": self.section.square},
            wrong="Cells that differ from the checkerboard",
        )

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a start of fair bits; the target is always the same."""
        size = (self.channels, self.height, self.width)
        return rng.integers(0, 2, size=size, dtype=np.uint8), self.target
