"""Growing a picture from one cell in the middle, or from zeros."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from difflogic.circuit.colors import Color, parse_color
from difflogic.circuit.grid import Boundary, Start
from difflogic.pictures.growth import Growth
from difflogic.pictures.text import parse_picture
from difflogic.system.array_types import Bits, Float64s
from difflogic.system.errors import ConfigError
from difflogic.system.json_schema import HexColor
from difflogic.tasks.base import Larger, Task
from difflogic.tasks.parts import Exhibit, InapplicableError, Sample
from difflogic.tasks.section import AutomatonConfig, Size, TaskSection

PictureText = Annotated[
    str,
    Field(
        max_length=2**20,
        json_schema_extra={
            "accepted": "a shipped picture's name, a text or image file, or its rows"
        },
    ),
]

# A TOML array arrives as a list; only the array itself is converted, its items stay strict.
Sides = Annotated[tuple[Size, ...], Field(max_length=16, strict=False)]

Palette = Annotated[tuple[HexColor, ...], Field(max_length=16, strict=False)]

TIMES = 2
"""Factor of the larger grid's sides, as published: 20×20 becomes 40×40, with the same steps."""


def palette_problems(palette: Sequence[str], channels: int) -> list[str]:
    """Check that a palette has a colour for each number that loss channels give."""
    if len(palette) in (0, 2**channels):
        return []
    return [
        f"[task] palette: has {len(palette)} colours, but {channels} loss channels give "
        f"{2**channels} numbers: list as many colours, or []"
    ]


class PatternSection(TaskSection):
    """Start: one cell of ones, or zeros. Target: a picture."""

    resolved = ("target", "height", "width")

    kind: Literal["pattern"] = Field(description="the task's name")
    target: PictureText = Field(
        default="", description="the picture to grow; a loaded configuration holds its rows"
    )
    start: Literal["center", "zeros", "places"] = Field(
        default="center",
        description="center: one cell of ones in the middle; zeros: no ones; places: zeros, after "
        "all cells have counted their places (needs [automaton] places)",
    )
    palette: Palette = Field(
        default=(),
        description="colours of cells for display, such as #d63031. A cell's loss channels, "
        "read as a number, choose one; the first channel is the lowest bit; [] shows the bits",
    )
    hold: bool = Field(
        default=False, description="whether the picture should stay at every later step"
    )
    heal: Sides = Field(
        default=(),
        description="sides of square patches, in cells: wherever one is zeroed, the picture "
        "should grow back",
    )

    gone: ClassVar = {"taught": False, "second": ""}

    def growth(self, automaton: AutomatonConfig) -> Growth:
        """Return what is asked of an automaton."""
        return Growth(
            bits=len(self.loss_channels),
            height=self.height,
            width=self.width,
            places=automaton.counted(self.height, self.width),
            start=self.start,
            hold=self.hold,
            heal=self.heal,
            boundary=automaton.boundary,
        )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check the picture, its size, the palette, and whether it can stay and heal."""
        return [
            *self._problems_of_picture(),
            *palette_problems(self.palette, len(self.loss_channels)),
            *self.growth(automaton).problems(automaton.steps, automaton.fire_rate),
        ]

    def _problems_of_picture(self) -> list[str]:
        try:
            height, width = parse_picture(self.target, len(self.loss_channels)).shape[1:]
        except ConfigError as error:
            return [f"[task] target: {error}"]
        if (height, width) == (self.height, self.width):
            return []
        return [
            f"[task] target: the picture has {height}×{width} cells, and the grid "
            f"{self.height}×{self.width}: set height = {height} and width = {width}"
        ]


class Pattern(Task):
    """One start and one target."""

    Section = PatternSection
    section: PatternSection

    def __init__(
        self, section: PatternSection, automaton: AutomatonConfig, picture: Bits | None = None
    ) -> None:
        """Grow `picture` (loss channels, height, width), by default the section's target."""
        super().__init__(section, automaton)
        self._given = picture
        self.growth = section.growth(automaton)

    @property
    def start(self) -> Start:
        return "zeros" if self.section.start == "places" else self.section.start

    @cached_property
    def start_state(self) -> Bits:
        """Shape (channels, height, width)."""
        return self.growth.first(self.channels)

    @cached_property
    def target(self) -> Float64s:
        """Shape (loss channels, height, width)."""
        return self.shown_target.astype(np.float64)

    @cached_property
    def shown_target(self) -> Bits:
        if self._given is not None:
            return self._given
        return parse_picture(self.section.target, len(self.loss_channels))

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return the start and the picture, always the same."""
        return self.start_state, self.target

    def on_grid(
        self, height: int, width: int, *, boundary: Boundary | None = None, steps: int | None = None
    ) -> Self:
        """Return the task with the picture around the start cell, and zeros elsewhere."""
        if self.automaton.boundary == "zero":
            raise InapplicableError(
                "the picture is placed relative to the zero boundary, which a larger grid moves"
            )
        if self.start == "zeros":
            raise InapplicableError("there is no start cell to place the picture on a larger grid")
        # Keep the picture around the middle cell.
        y = height // 2 - self.height // 2
        x = width // 2 - self.width // 2
        picture = np.zeros((len(self.shown_target), height, width), np.uint8)
        picture[:, y : y + self.height, x : x + self.width] = self.shown_target
        large = super().on_grid(height, width, boundary=boundary, steps=steps)
        return type(self)(large.section, large.automaton, picture)

    def larger(self) -> Larger:
        """Return the picture in the middle of a grid of twice the side."""
        return Larger(
            self.on_grid(TIMES * self.height, TIMES * self.width),
            f"{TIMES} × side, same steps",
            (self.automaton.steps,),
            "The target is the picture around the start cell, and zeros elsewhere.",
        )

    @property
    def stages(self) -> tuple[Task, ...]:
        """With counted places, the picture is learned in one step from there, and only proved.

        Without them, a picture that should heal first learns to stay.
        """
        keys: dict[str, Any] = {"heal": ()}
        automaton = self.automaton
        if self.growth.places is not None:
            keys |= {"start": "places", "hold": False}
            automaton = automaton.model_copy(update={"steps": 1})
            return (Pattern(self.section.model_copy(update=keys), automaton),)
        section = self.section.model_copy(update=keys)
        return (Pattern(section, automaton), self) if section != self.section else (self,)

    @property
    def holds(self) -> bool:
        return self.growth.hold

    @cached_property
    def patches(self) -> dict[int, Bits]:
        return {side: self.growth.squares(side) for side in self.growth.heal}

    @property
    def damages(self) -> dict[int, int]:
        return self.growth.damages

    @property
    def exactness_note(self) -> str:
        if self.growth.heal:
            return "Exact means at every later step, and that every damage grows back, by proof."
        if self.holds:
            return "Exact means at every later step, by proof: a run until its state repeats."
        return "Exact means at the training step only, as in the published loss."

    @property
    def palette(self) -> tuple[Color, ...]:
        return tuple(parse_color(text) for text in self.section.palette)

    @property
    def exhibit(self) -> Exhibit:
        start = "one cell" if self.start == "center" else "nothing at all"
        steps = self.automaton.steps
        words = "Disturb it on the way, and see what becomes of it."
        if self.section.heal:
            words = "It stays. Erase a part of it, and it grows back."
        elif self.holds:
            words = "It stays. Erase a part of it, and see whether it grows back."
        return Exhibit(
            f"From {start} they grow a picture, in {steps} steps. {words}",
            {
                "kind": "picture",
                "height": self.height,
                "width": self.width,
                # On other grids it has a place if it grows from a cell on a torus.
                "anywhere": self.start == "center" and self.automaton.boundary == "periodic",
                "rows": ["".join(map(str, bits.ravel().tolist())) for bits in self.shown_target],
            },
            {"pauses": not self.holds, "marks": False, "speed": max(2.0, steps / 4)},
        )
