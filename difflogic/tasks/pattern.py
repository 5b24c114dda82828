"""Growing a picture from one cell in the middle, or from zeros."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from difflogic.circuit.colors import Color, parse_color
from difflogic.circuit.grid import Boundary, Start
from difflogic.circuit.specification import Cases
from difflogic.pictures.growth import Growth
from difflogic.pictures.text import parse_picture
from difflogic.system.array_types import Bits, Float64s
from difflogic.system.errors import ConfigError
from difflogic.tasks.base import Larger, Task
from difflogic.tasks.parts import Exhibit, InapplicableError, Preview, Sample
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

HexColor = Annotated[
    str, Field(pattern=r"^#[0-9a-f]{6}$", json_schema_extra={"accepted": "a colour as #rrggbb"})
]
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
    second: PictureText = Field(
        default="",
        description="a second picture, grown from one cell of ones in the middle, while "
        "`target` grows from zeros; needs [automaton] switch",
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

    @model_validator(mode="before")
    @classmethod
    def _leave_out_taught(cls, given: Any) -> Any:
        """Read older files, too, which say that no lessons teach places."""
        if isinstance(given, dict) and given.get("taught") is False:
            return {key: value for key, value in given.items() if key != "taught"}
        return given

    def growth(self, automaton: AutomatonConfig) -> Growth:
        """Return what is asked of an automaton."""
        return Growth(
            bits=len(self.loss_channels),
            height=self.height,
            width=self.width,
            places=automaton.counted(self.height, self.width),
            start=self.start,
            second=bool(self.second),
            hold=self.hold,
            heal=self.heal,
            boundary=automaton.boundary,
        )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check the pictures, their size, the palette, and whether it can stay and heal."""
        return [
            *self._problems_of_pictures(),
            *palette_problems(self.palette, len(self.loss_channels)),
            *self.growth(automaton).problems(automaton.steps, automaton.fire_rate),
        ]

    def _problems_of_pictures(self) -> list[str]:
        found = []
        remedy = "set height = {} and width = {}"
        pictures = {"target": self.target} | ({"second": self.second} if self.second else {})
        for key, rows in pictures.items():
            try:
                size = parse_picture(rows, len(self.loss_channels)).shape[1:]
            except ConfigError as error:
                found.append(f"[task] {key}: {error}")
                continue
            if size != (self.height, self.width):
                found.append(
                    f"[task] {key}: the picture has {size[0]}×{size[1]} cells, and the grid "
                    f"{self.height}×{self.width}: {remedy.format(*size)}"
                )
            remedy = "both pictures need one size"
        return found


class Pattern(Task):
    """One start and one target, or two of each."""

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
        return self.growth.starts(self.channels)[0]

    @cached_property
    def target(self) -> Float64s:
        """Shape (loss channels, height, width)."""
        return self._picture.astype(np.float64)

    @cached_property
    def _picture(self) -> Bits:
        if self._given is not None:
            return self._given
        return parse_picture(self.section.target, len(self.loss_channels))

    def sample(self, rng: np.random.Generator) -> Sample:
        """Return the start and the picture, always the same; with two pictures, either pair."""
        cases = self.find_cases()
        if cases is None:
            return self.start_state, self.target
        number = int(rng.integers(2))
        return cases.starts[number], cases.targets[number].astype(np.float64)

    @cached_property
    def _cases(self) -> Cases | None:
        if not self.growth.second:
            return None
        second = parse_picture(self.section.second, len(self._picture))
        return Cases(
            "both starts",
            np.stack(self.growth.starts(self.channels)),
            np.stack([self._picture, second]),
            self.automaton.boundary,
            self.automaton.steps,
            "These are all: zeros, and one cell.",
            each=("nothing", "one cell"),
        )

    def cases(self) -> Cases | None:
        return self._cases

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
        picture = np.zeros((len(self._picture), height, width), np.uint8)
        picture[:, y : y + self.height, x : x + self.width] = self._picture
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
    def preview(self) -> Preview:
        ones = int(self._picture.any(axis=0).sum())
        start = "one cell" if self.start == "center" else "nothing"
        return Preview(
            f"to grow from {start} in {self.automaton.steps} steps, {ones} of "
            f"{self.height}×{self.width} cells:",
            self._picture,
            self.palette,
        )

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
                "rows": ["".join(map(str, bits.ravel().tolist())) for bits in self._picture],
            },
            {"pauses": not self.holds, "marks": False, "speed": max(2.0, steps / 4)},
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The start, hold and heal; the target is too large to list."""
        section = self.section
        found: dict[str, Any] = {"start": self.start}
        if section.hold:
            found["hold"] = True
        if section.heal:
            found["heal"] = list(section.heal)
        return found
