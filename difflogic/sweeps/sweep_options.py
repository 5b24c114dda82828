"""Options of sweeps; also a group of a command's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from difflogic.experiment.overrides import Set
from difflogic.system.declaration import (
    Advanced,
    AllowCode,
    CheckedOptions,
    NewDirectory,
    Opt,
    Range,
    Recipe,
    Seeds,
)


@dataclass(frozen=True)
class SweepOptions(CheckedOptions):
    """What a sweep trains, where its runs go, and who trains them."""

    seeds: Annotated[
        Seeds, Opt("Random seeds, such as 0-15 or 0-3,7; a new sweep needs them", "SEEDS")
    ] = None
    grid: Annotated[
        Sequence[str], Opt("Values to try; repeat it to combine several keys", "SECTION.KEY=V1,V2")
    ] = ()
    overrides: Set = ()
    recipe: Recipe = None
    directory: Annotated[
        NewDirectory, Opt("Sweep directory; an earlier sweep there is continued")
    ] = None
    jobs: Annotated[
        int | None,
        Range(1, 4096),
        Opt(
            "Runs at a time, each in its own process if several",
            names="--workers",
            shown="one per core",
        ),
    ] = None
    scheduler: Annotated[
        str | None, Advanced("Dask scheduler, such as tcp://127.0.0.1:8786", "ADDRESS")
    ] = None
    scheduler_timeout: Annotated[
        float | None,
        Range(0.1, 1e6),
        Advanced("How long to wait for the Dask scheduler and a worker", "SECONDS", shown="60"),
    ] = None
    allow_code: AllowCode = False
