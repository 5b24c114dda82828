"""Options of the library's larger functions, in groups; each is also a group of a command's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from difflogic.circuit.colors import Color, parse_color
from difflogic.system.declaration import Advanced, CheckedOptions, Count, Opt, PixelCount, Range
from difflogic.system.errors import ConfigError


def _colors(text: str) -> int:
    if text not in ("1", "2", "3", "4", "8", "16"):
        raise ConfigError(f'"{text}" is not 1, 2, 3, 4, 8 or 16')
    return int(text)


def _palette(text: str) -> tuple[Color, ...]:
    written = re.fullmatch(r"#[0-9a-fA-F]{6}(,#[0-9a-fA-F]{6}){1,15}", text)
    found = tuple(dict.fromkeys(map(parse_color, text.split(",")))) if written else ()
    if len(found) < 2:
        raise ConfigError(f'"{text}" is not 2 to 16 different colours such as #ffffff,#d63031')
    return found


@dataclass(frozen=True)
class PictureOptions(CheckedOptions):
    """Which picture is grown, and how."""

    target: Annotated[
        str | None,
        Opt(
            "Picture to grow: a shipped one, a text grid, or an image", "NAME|FILE", shown="lizard"
        ),
    ] = None
    hold: Annotated[bool, Opt("Keep the picture at every later step")] = False
    heal: Annotated[bool, Opt("Keep the picture, and grow it back after damage")] = False
    size: Annotated[
        tuple[int, int] | None,
        Opt(
            "Rows and columns of the grid",
            shown="the image's up to 128x128, else 64 cells on the longer side; at most 256x256",
        ),
    ] = None
    colors: Annotated[
        int | None,
        Opt(
            "Colours to keep, background included: 2, 4, 8 or 16; 1: ink only; 3: one bit "
            "each of red, green and blue",
            "N",
            shown="chosen for the picture",
            parse=_colors,
        ),
    ] = None
    palette: Annotated[
        tuple[Color, ...] | None,
        Advanced(
            "Colours to choose, such as #ffffff,#d63031",
            "LIST",
            shown="by median cut",
            parse=_palette,
        ),
    ] = None
    tile: Annotated[
        bool, Opt("Repeat the picture as a tile, from every start, on every grid, by proof")
    ] = False
    asynchronous: Annotated[
        bool, Opt("With --tile: update each cell with probability 0.6 per step", names="--async")
    ] = False
    tough: Annotated[
        bool, Advanced("Let cells count their places by majorities: damage stays where it is")
    ] = False
    channels: Annotated[
        Count | None,
        Advanced("State bits per cell; the update circuit is sized to fit", shown="from CONFIG"),
    ] = None
    steps: Annotated[
        Count | None, Advanced("Automaton steps for growing", shown="chosen for the picture")
    ] = None

    @property
    def choose_configuration(self) -> bool:
        """Whether an option asks for a configuration that is made for the picture."""
        chosen = self.hold or self.heal or self.tough
        given = (self.size, self.steps, self.palette) != (None, None, None)
        return chosen or given or self.colors not in (None, 1, 3)


@dataclass(frozen=True)
class Claims(CheckedOptions):
    """What `certify` proves about an automaton, besides its own grid."""

    sizes: Annotated[
        Sequence[tuple[int, int]],
        Opt("Rows and columns of the grid; repeatable", names="--size", shown="as trained"),
    ] = ()
    all_sizes: Annotated[bool, Opt("Certify grids of all heights and widths at once")] = False
    damage: Annotated[
        int | None,
        Range(1, 32),
        Opt("Also prove that a wound of N×N cells, anywhere on any grid, stays local"),
    ] = None
    """The side of a square that is wounded in a settled state. Then all sizes are decided, too, but
    a picture that stays on its own grid only."""
    contents: Annotated[Literal["zeros", "any"], Advanced("What the bits of --damage become")] = (
        "zeros"
    )
    margin: Annotated[
        int, Range(0, 64), Advanced("Least distance of --damage from the edges", "CELLS")
    ] = 0


@dataclass(frozen=True)
class Frames(CheckedOptions):
    """Which frames of a rollout `render` shows, and how."""

    every: Annotated[Count, Opt("Show every Nth step")] = 1
    at: Annotated[
        Sequence[int],
        Advanced(
            "Show only these steps, such as 0,5,10-12", shown="all; six in a strip", metavar="STEPS"
        ),
    ] = ()
    channels: Annotated[
        Sequence[int],
        Advanced("Channels to show, up to three as colours", shown="the visible ones"),
    ] = ()
    scale: Annotated[PixelCount | None, Opt("Pixels per cell", shown="about 256 pixels in all")] = (
        None
    )
    frames_per_second: Annotated[float, Range(0.1, 50), Opt("Frames per second", names="--fps")] = (
        10
    )


@dataclass(frozen=True)
class ChipOptions(CheckedOptions):
    """The FPGA of `synthesize`, and what is done besides."""

    device: Annotated[Literal["ice40-hx8k", "ecp5-85k"], Opt("FPGA to place the grid on")] = (
        "ecp5-85k"
    )
    check: Annotated[
        bool,
        Opt("Prove the mapped cell equal to the circuit, and simulate the netlist for --steps"),
    ] = False
    timeout: Annotated[
        float, Range(1, 1e6), Opt("Time limit for all tools together", "SECONDS")
    ] = 600
    report: Annotated[
        str | Path | None, Opt("New directory for the Verilog and the tools' logs", "DIR")
    ] = None
    pins: Annotated[
        str | Path | None, Opt("Pin assignments, as PCF (iCE40) or LPF (ECP5)", "FILE")
    ] = None
