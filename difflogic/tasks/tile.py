"""Tiles: from any start to a picture that repeats, on every grid.

Lessons of one step teach it, as those of counted places do. Cells look N, W and NW only, so once
these are right, a cell should be: whatever it was, and wherever it lies. *Guides* are further
channels whose target is a cell's place in its tile, as rings of bits: a neighbour's guide is one
gate away from a cell's own.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import Field

from difflogic.circuit.colors import Color, parse_color
from difflogic.circuit.specification import Cases
from difflogic.pictures.places import MOST_PERIOD, ring
from difflogic.pictures.text import parse_picture
from difflogic.system.array_types import Bits, Float64s
from difflogic.system.errors import ConfigError
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit, Sample
from difflogic.tasks.pattern import Palette, PictureText, palette_problems
from difflogic.tasks.section import AutomatonConfig, TaskSection

LOST = 0.3
"""Share of the cells of a lesson that hold anything."""

LESSONS_TO_PASS = 8
"""Lessons that a circuit must get right before a proof is tried."""


class TileSection(TaskSection):
    """Start: random bits. Target: a tile, again and again from the upper left corner on."""

    kind: Literal["tile"] = Field(description="the task's name")
    tile: PictureText = Field(description="the tile to repeat")
    palette: Palette = Field(
        default=(), description="colours of cells for display, as for a pattern; [] shows the bits"
    )

    @property
    def bits(self) -> Bits:
        """Shape (loss channels, height, width). Raises ConfigError."""
        return parse_picture(self.tile, len(self.loss_channels))

    @property
    def guides(self) -> tuple[Bits, Bits]:
        """Bits that tell the rows of a tile, and its columns: (bits, period)."""
        return ring(self.bits.shape[1]), ring(self.bits.shape[2])

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check the tile, the palette and the number of channels."""
        try:
            sides = self.bits.shape[1:]
        except ConfigError as error:
            return [f"[task] tile: {error}"]
        found = palette_problems(self.palette, len(self.loss_channels))
        if max(sides) > MOST_PERIOD:
            most = f"{MOST_PERIOD}×{MOST_PERIOD}"
            found.append(f"[task] tile: {sides[0]}×{sides[1]} cells are more than {most}")
        if automaton.boundary != "zero":
            found.append('[automaton] boundary: a tile begins at an edge: use "zero"')
        places = automaton.counted(self.height, self.width)
        if (automaton.periods or sides) != sides or automaton.places != bool(automaton.periods):
            found.append(
                "[automaton] periods: only counted places have them: set places = true and "
                f"periods = {list(sides)}, or places = false and periods = []"
            )
        guides = sum(map(len, self.guides)) if places is None else places.channels
        needed = len(self.bits) + guides
        if automaton.channels < needed or self.loss_channels != tuple(range(len(self.bits))):
            found.append(
                f"[automaton] channels: {needed} are needed, the first {len(self.bits)} of them "
                "the loss channels, the others for guides or counted places"
            )
        return found


class Tile(Task):
    """From random bits to a tile everywhere, which should stay."""

    Section = TileSection
    section: TileSection
    stays = True
    asks_every_size = True

    @cached_property
    def target(self) -> Float64s:
        """Shape (loss channels, height, width)."""
        return self.known[: len(self.loss_channels)].astype(np.float64)

    @cached_property
    def known(self) -> Bits:
        """What cells should show, and what their guides should be: (channels, height, width)."""
        bits = self.section.bits
        (rows, columns) = self.section.guides
        y, x = np.indices((self.height, self.width))
        y, x = y % bits.shape[1], x % bits.shape[2]
        return np.concatenate([bits[:, y, x], rows[:, y], columns[:, x]])

    @property
    def lasting_target(self) -> Bits:
        return self.target.astype(np.uint8)

    @property
    def lasting_period(self) -> int:
        return math.lcm(*self.section.bits.shape[1:])

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a start of fair bits; the target is always the same."""
        size = (self.channels, self.height, self.width)
        return rng.integers(0, 2, size=size, dtype=np.uint8), self.target

    @property
    def stages(self) -> tuple[Task, ...]:
        return (TileLessons(self),)

    @property
    def palette(self) -> tuple[Color, ...]:
        return tuple(parse_color(text) for text in self.section.palette)

    @property
    def shown_target(self) -> Bits:
        return self.lasting_target

    @property
    def exhibit(self) -> Exhibit:
        return Exhibit(
            "From random cells they agree on a tile. Drag over it to wound it, and watch it heal."
        )


class TileLessons(Task):
    """One step of cells that look N, W and NW, where some hold anything.

    If places are counted, of cells that know their own.
    """

    def __init__(self, whole: Tile) -> None:
        places = whole.automaton.counted(whole.height, whole.width)
        known = whole.known if places is None else whole.lasting_target
        taught = tuple(range(len(known)))
        section = whole.section.model_copy(update={"loss_channels": taught})
        automaton = whole.automaton.model_copy(update={"steps": 1, "fire_rate": 1.0})
        super().__init__(section, automaton)
        self._whole = whole
        self._known = known
        self._places = places

    @property
    def whole(self) -> Task:
        return self._whole

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a board; cells count whose neighbours N, W and NW are right."""
        if self._places is not None:
            start = self._places.settled(self.channels, self.height, self.width)
            return start, self._known.astype(np.float64)
        start = rng.integers(0, 2, (self.channels, self.height, self.width), np.uint8)
        lost = rng.random((self.height, self.width)) < LOST
        known = len(self._known)
        start[:known] = np.where(lost, start[:known], self._known)
        around = np.pad(lost, ((1, 0), (1, 0)))
        free = around[:-1, :-1] | around[:-1, 1:] | around[1:, :-1]
        return start, np.where(free, np.nan, self._known)

    @cached_property
    def _cases(self) -> Cases | None:
        if self._places is not None:
            return None
        rng = np.random.default_rng(0)
        starts, targets = zip(*(self.sample(rng) for _ in range(LESSONS_TO_PASS)), strict=True)
        return Cases("lessons", np.stack(starts), np.stack(targets), "zero", 1, "")

    def cases(self) -> Cases | None:
        return self._cases
