"""A run at one moment, as browsers see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow
from difflogic.run.records import State


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    model: Model | None = None
    """With its own copy of the logits."""
    rows: Sequence[MetricsRow] = ()
    state: State | Literal["removed"] = "waiting"
    exact_epoch: int | None = None
    runs: tuple[tuple[str, ...], ...] = ()
    """A sweep's runs: variant, seed, state, and epoch of exactness, in words."""
    shown: int | None = None
    """The place of the run that is shown among `runs`."""
    path: str = ""
    """The directory of the run or sweep, quoted for a command line."""
    run: str = ""
    """The same for the run that is shown."""
    training: bool = False
    """Whether the process that serves the page also trains."""
