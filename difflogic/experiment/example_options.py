"""Options of runs that learn from examples; also a group of a command's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from difflogic.system.declaration import (
    MOST_SEED,
    Advanced,
    CheckedOptions,
    Opt,
    Range,
    SecondsOption,
    Share,
)


@dataclass(frozen=True)
class ExampleOptions(CheckedOptions):
    """How a rule is learned from pairs of grids, and where its run goes."""

    hold_out: Annotated[Share, Opt("Share of the pairs to keep aside, as a test")] = 0.0
    symbols: Annotated[
        Literal["alike", "by-name"] | None,
        Opt("Treat all symbols alike, or know them by name", shown="whatever fits the pairs"),
    ] = None
    steps: Annotated[
        int | None, Range(1, 10**6), Advanced("Automaton steps", shown="several are tried")
    ] = None
    channels: Annotated[
        int | None, Range(1, 65536), Advanced("State bits per cell", shown="several are tried")
    ] = None
    boundary: Annotated[
        Literal["zero", "periodic"], Opt("Zeros beyond the grid's edge, or the opposite edge")
    ] = "zero"
    name: Annotated[str, Opt("Name of the rule, and of its run")] = "examples"
    time_limit: Annotated[SecondsOption, Opt("Time limit for learning")] = 120.0
    seed: Annotated[int, Range(0, MOST_SEED)] = 0
    workers: int | str = "auto"
    directory: str | Path | None = None


AS_FITS = ExampleOptions()
