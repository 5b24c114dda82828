"""What `identify` takes for granted about a recording; also a group of a command's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from difflogic.system.declaration import Advanced, CellSide, CheckedOptions, Opt, Range, Share
from difflogic.system.errors import ConfigError

LineCells = Literal["line-1", "line-2", "line-3"]
CountingSymmetry = Literal["outer-totalistic", "outer-sum", "totalistic"]
"""Symmetries that count the neighbours in each state."""


def _states(text: str) -> int | tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if len(names) == 1:
        return int(Range(2, 16).read(int, text))
    if not (all(names) and len({*names}) == len(names) <= 16):
        raise ConfigError(f'"{text}" is not a list of 2 to 16 different colours or numbers')
    return names


@dataclass(frozen=True)
class Assumptions(CheckedOptions):
    """What `identify` takes for granted about a recording and its rule."""

    neighbourhood: Annotated[
        Literal["moore", "von-neumann", "hexagonal", LineCells, "margolus"],
        Opt("Cells that the rule reads"),
    ] = "moore"
    radius: Annotated[
        int | Literal["auto"] | None,
        Range(1, 3),
        Advanced("Radius of a line's rule, from 1 to 3; auto finds the likeliest"),
    ] = None
    """It means a line."""
    symmetry: Annotated[
        Literal["none", "reflections", "rotations", "isotropic", CountingSymmetry, "auto"],
        Advanced("Symmetry that the rule is assumed to have; auto finds the likeliest"),
    ] = "none"
    states: Annotated[
        int | tuple[str, ...] | None,
        Range(2, 16),
        Opt(
            "Number of states, or what stands for each in the file, such as white,black or -1,1",
            "N|LIST",
            shown="as many as occur; of colours, the commonest is 0",
            parse=_states,
        ),
    ] = None
    boundary: Annotated[
        Literal["auto", "periodic", "zero", "unknown"],
        Opt("What lies beyond the edge; auto means that films wrap, and pairs may or may not"),
    ] = "auto"
    gap: Annotated[
        int | Literal["auto"],
        Range(1, 64),
        Advanced("Steps from one frame to the next; auto finds the likeliest, for lines"),
    ] = 1
    memory: Annotated[
        int | Literal["auto"],
        Range(0, 1),
        Advanced("Frames before the last that the rule looks back at; auto: 1 if none explains it"),
    ] = "auto"
    noise: Annotated[bool, Opt("Allow wrong cells in the recording, as few as possible")] = False
    hidden: Annotated[
        int, Range(0, 4), Advanced("Largest number of hidden states, which look like other states")
    ] = 0
    threshold: Annotated[
        Share | None, Advanced("Lowest brightness, 0 to 1, that counts as a 1")
    ] = None
    cell: CellSide = "auto"
    mask: Any = None
    """Where it is true, cells of a recording given as an array are unseen."""
