"""A run at one moment, as browsers see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow

Status = Literal["waiting", "running", "stopped", "finished"]


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    model: Model | None = None
    """With its own copy of the logits."""
    rows: Sequence[MetricsRow] = ()
    status: Status = "waiting"
    exact_epoch: int | None = None
    runs: tuple[tuple[str, ...], ...] = ()
    """A sweep's runs: variant, seed, status, and epoch of exactness, in words."""
    path: str = ""
    """The directory of the run or sweep, quoted for a command line."""
    run: str = ""
    """The same for the run that is shown."""
    training: bool = False
    """Whether the process that serves the page also trains."""
