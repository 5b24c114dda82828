"""How a circuit is run: `Conditions`, with damage by `Rectangle`s."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from difflogic.circuit.colors import hex_color
from difflogic.library.painting import Paint, Painting, RegionsOption, read_painting
from difflogic.system.array_types import Array
from difflogic.system.declaration import (
    MOST_SIDE,
    Advanced,
    CellSide,
    CheckedOptions,
    Opt,
    Range,
    Seed,
    Share,
    Unsimplified,
    require_declared,
)
from difflogic.system.errors import ConfigError, described
from difflogic.system.work import say

if TYPE_CHECKING:
    from difflogic.circuit.automaton import Automaton
    from difflogic.library.loaded import Loaded
    from difflogic.simulation.bit_grid import Geometry
    from difflogic.simulation.simulator import Erasure

    Start = str | Path | Array | None
else:
    Start = str | Path | None


STARTS = "random, center, zeros"
MOST_STEPS = 2**62
LEAST_RATE = 1e-9
"""Smallest fire rate."""


@dataclass(frozen=True)
class Rectangle(CheckedOptions):
    """Damage: zeroes cells after the given steps, counted from 1."""

    steps: tuple[int, ...]
    y: int
    x: int
    height: int
    width: int

    def __str__(self) -> str:
        steps = ",".join(map(str, self.steps))
        return f"damage {steps}:{self.y},{self.x},{self.height}x{self.width}"

    @classmethod
    def parse(cls, text: str) -> Rectangle:
        """Parse damage such as 10,20:0,0,8x8. Raises ConfigError."""
        number = "([0-9]{1,9})"
        steps = "([0-9]{1,9}(?:,[0-9]{1,9})*)"
        found = re.fullmatch(f"{steps}:{number},{number},{number}[x×]{number}", text)
        if found is None:
            raise ConfigError(f'"{text}": must be STEPS:Y,X,HxW, such as 10:4,4,8x8')
        y, x, height, width = map(int, found.groups()[1:])
        return cls(tuple(map(int, found[1].split(","))), y, x, height, width)

    def place(self, geometry: Geometry, last: int, spared: Sequence[int] = ()) -> Erasure:
        """Return the damage in the simulator's form; channels at the places `spared` keep theirs.

        Raises ConfigError if it lies outside the grid or comes after step `last`.
        """
        from difflogic.simulation.simulator import rectangle

        end_y = self.y + self.height
        end_x = self.x + self.width
        inside = min(self.y, self.x) >= 0 and end_y <= geometry.height and end_x <= geometry.width
        if self.height < 1 or self.width < 1 or not inside:
            raise ConfigError(f"{self}: is not within the {geometry.height}×{geometry.width} cells")
        if not self.steps or min(self.steps) < 1 or max(self.steps) > last:
            raise ConfigError(f"{self}: its steps must be from 1 to {last}")
        found = rectangle(self.steps, (self.y, end_y), (self.x, end_x), geometry.width)
        hurt = [place for place in range(geometry.channels) if place not in spared]
        return replace(found, channels=hurt)


@dataclass(frozen=True)
class Conditions:
    """How to run a circuit. None means as in training. Raises ConfigError if out of range."""

    size: Annotated[
        tuple[int, int] | None, Opt("Rows and columns of the grid", shown="as trained")
    ] = None
    steps: Annotated[
        int | None, Range(0, MOST_STEPS), Opt("Number of automaton steps", shown="as trained")
    ] = None
    start: Annotated[
        Start,
        Opt(
            "Start state: random, center, zeros, or a file (image, text picture, .rle, .cells, "
            ".npz; a film with --frame)",
            "START",
            shown="as trained",
        ),
    ] = None
    """An image is scaled to the grid. An .npz file holds a state or an array. An array of bits has
    the shape (rows, columns), (visible channels, rows, columns) or (channels, height, width)."""
    frame: Annotated[
        int | Literal["last"] | None,
        Range(0, 10**9),
        Advanced("Frame of a film to start from: last, or its number from 0", "last|N"),
    ] = None
    """The start is then a file as `identify` reads it, and gives each cell's state. `size` is that
    of the grid: a smaller frame lies in the middle of zeros."""
    cell: Annotated[CellSide, Advanced()] = "auto"
    paint: Paint = None
    regions: RegionsOption = None
    seed: Seed = 0
    """Seed of random starts, fire masks and noise."""
    fire_rate: Annotated[
        float | None,
        Range(LEAST_RATE, 1),
        Advanced("Share of cells that update in a step", "SHARE", shown="as trained"),
    ] = None
    noise: Annotated[
        Share, Advanced("Probability that a bit flips after a step, in each channel and cell", "P")
    ] = 0.0
    boundary: Annotated[
        Literal["zero", "periodic"] | None,
        Advanced("What lies beyond the grid's edge", shown="as trained"),
    ] = None
    damage: Annotated[
        Sequence[Rectangle],
        Opt(
            "Zero H rows and W columns, starting at row Y and column X, after the given "
            "steps, such as 10,20; repeatable",
            "STEPS:Y,X,HxW",
        ),
    ] = ()
    unsimplified: Annotated[Unsimplified, Advanced()] = False
    moved: tuple[int, int] = (0, 0)
    """Rows and columns that blocks of cells lie further up and left at the start than at first."""

    def __post_init__(self) -> None:
        if not isinstance(self.start, str | Path | None) and not hasattr(self.start, "dtype"):
            raise ConfigError(
                f"start: is {described(self.start)}: give {STARTS}, an array of bits, or the name "
                "of a file: an image, a picture as text, an .rle pattern, or an .npz with one "
                "array or a state as Simulated.save writes it"
            )
        require_declared(Conditions, vars(self))
        if self.size is not None and not all(1 <= side <= MOST_SIDE for side in self.size):
            height, width = self.size
            raise ConfigError(f"{height}×{width} cells: each side must be from 1 to {MOST_SIDE}")

    def automaton(self, source: Loaded) -> Automaton:
        """Return the automaton to run: simplified, at this size, with these steps.

        The circuit of a run or a model is simplified unless `unsimplified`. The default effort is
        low, since more would take longer than most simulations. Raises ProofError.
        """
        from difflogic.library.simplifying import small_form

        automaton = source.automaton
        if not (self.unsimplified or automaton.circuit.interpreter):
            automaton = small_form(source, "low")
        height, width = self.size or (automaton.height, automaton.width)
        return replace(
            automaton,
            blocks=automaton.blocks and automaton.blocks.moved(*self.moved),
            height=height,
            width=width,
            fire_rate=automaton.fire_rate if self.fire_rate is None else self.fire_rate,
            boundary=self.boundary or automaton.boundary,
            steps=automaton.steps if self.steps is None else self.steps,
        )

    def begun(self, automaton: Automaton) -> Conditions:
        """Return these conditions, with what is painted as numbers, and a start as `_started`."""
        found = self._started(automaton)
        painted = read_painting(Painting(self.paint, self.regions), automaton, found.size)
        if painted is None:
            return found
        return replace(found, paint=painted, regions=None, size=painted.shape)

    def _started(self, automaton: Automaton) -> Conditions:
        """Return these conditions, with a film's frame as bits, or a pattern in its universe.

        The grid then has the size of film or universe. Raises ConfigError for what is no film, for
        states that the circuit does not have, and for universes but rectangles and tori.
        """
        if self.frame is None:
            if self.cell != "auto":
                raise ConfigError("--cell: is that of a film: give --frame, too")
            return self._bounded()
        import numpy as np

        from difflogic.examples.film import Reading, read
        from difflogic.library.start_files import bits_of
        from difflogic.pictures.pixels import color_name, color_number
        from difflogic.simulation.state_picture import usual_palette

        if not isinstance(self.start, str | Path) or str(self.start) in STARTS.split(", "):
            raise ConfigError("--frame: is one of a film: name its file with --start")
        channels = len(automaton.visible)
        own = automaton.palette
        colours = map(hex_color, own or usual_palette(channels))
        names = tuple(color_name(color_number(each)) for each in colours)
        line = automaton.height == 1
        grid = (automaton.height, automaton.width)
        how = Reading(line, 2**channels, cell=self.cell, grid=grid, colours=names, usual=not own)
        film = read([Path(self.start)], how)
        cells = film.frame(self.frame)
        say(f"{film.source}: {film.told}")
        bits = bits_of(cells, channels)
        size = self.size or cells.shape
        number = film.frames.shape[1] - 1 if self.frame == "last" else self.frame
        if automaton.before:
            if not number:
                raise ConfigError(
                    f"{film.source}: the rule looks back at one more frame: start from frame 1 or "
                    "later of a film"
                )
            bits = np.concatenate([bits, bits_of(film.frame(number - 1), channels)])
        # Blocks move at each step, and the frame lies in the middle of a larger grid.
        moved = [number - side // 2 + own // 2 for side, own in zip(size, cells.shape, strict=True)]
        return replace(self, start=bits, frame=None, cell="auto", size=size, moved=tuple(moved))

    def _bounded(self) -> Conditions:
        """Return these conditions in the universe that a pattern's file names."""
        from difflogic.examples.universe import bounds
        from difflogic.library.start_files import read_pattern

        pattern = read_pattern(self.start) if isinstance(self.start, str | Path) else None
        if pattern is None or not pattern.topology:
            return self
        named = f"{self.start}: is in Golly's universe {pattern.topology}"
        if self.size and self.boundary:
            say(f"{named}, which --size and --boundary replace")
            return self
        size, boundary = bounds(pattern.topology)
        if size is None:
            raise ConfigError(f"{named}, which dct does not have: give --size and --boundary")
        say(f"{named}: --size and --boundary are its own, unless given")
        return replace(self, size=self.size or size, boundary=self.boundary or boundary)

    def start_of(self, automaton: Automaton) -> str | Array:
        """Return the start, by default the automaton's own."""
        if self.start is None:
            return automaton.start
        return str(self.start) if isinstance(self.start, str | Path) else self.start


AS_TRAINED = Conditions()
