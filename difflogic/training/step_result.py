"""The result of one training step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from difflogic.search.finishing import Finished


@dataclass(frozen=True)
class StepResult:
    """What one epoch (one optimizer step) measured, before its update."""

    epoch: int
    """Number of finished epochs, from 1."""
    soft_loss: float
    """Sum of squared errors over batch, cells and loss channels, or the task's own loss."""
    hard_loss: float | None
    """Sum of squared errors of the most probable ops; None except on the first rank."""
    accuracy: float | None
    """Share of right cells of the hard circuit, 0 to 1."""
    hard_state: npt.NDArray[np.uint8] | None = field(repr=False)
    """Last hard state of the first sample, (channels, height, width); None like `hard_loss`."""
    decided: float | None = None
    """Share of gates, 0 to 1, with an op of a probability above `gates.DECIDED`."""
    finished: Finished | None = None
    """The result of a search after this epoch; None if there was none."""
    attempt: int = 1
    """The attempt that this epoch belongs to, from 1."""
