"""What a step of training found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.search.finishing import Finished


@dataclass(frozen=True)
class GivenUp:
    """Why an attempt was given up."""

    epochs: int
    """That it had."""
    wrong: int
    """Cells of its best circuit that were wrong on fresh start states."""
    cells: int
    """That were compared."""
    above: float
    """Share of these of which more was wrong than may be."""


@dataclass(frozen=True)
class StepResult:
    """What one epoch (one optimizer step) measured, before its update."""

    epoch: int
    """Count of finished epochs, from 1."""
    soft_loss: float
    """Sum of squared errors over batch, cells and loss channels."""
    hard_loss: float | None
    """The same with every gate replaced by its most probable op; None if not evaluated."""
    accuracy: float | None
    """Share of right cells of the hard circuit, 0 to 1."""
    hard_state: npt.NDArray[np.uint8] | None
    """Last hard state of the first sample, (channels, height, width); None if not evaluated."""
    decided: float | None = None
    """Share of gates, 0 to 1, one op of which has a probability above `gates.DECIDED`."""
    finished: Finished | None = None
    """What a check of the circuit after this epoch found; None if there was none."""
    attempt: int = 1
    """Which attempt at learning this epoch was of, from 1."""
    given_up: GivenUp | None = None
    """Why that attempt is over after this epoch; None unless it fell behind."""
