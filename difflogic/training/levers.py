"""When learning starts over, and hardening: some gates run as one op while they are trained.

What is drawn comes from a stream named by the epoch, so that a resumed run goes on with the same
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import COEFFICIENTS
from difflogic.config import Config
from difflogic.config.learning import TrainingConfig
from difflogic.system.streams import Purpose, stream

Array = npt.NDArray[Any]


def attempt_of(training: TrainingConfig, epoch: int) -> int:
    """Return which attempt at learning, from 0, an epoch, counted from 0, belongs to.

    Restarts cut off the long tail of runs that are stuck (Gomes, Selman and Kautz 1998).
    """
    return epoch // training.restart_every if training.restart_every else 0


def first_epoch(training: TrainingConfig, attempt: int) -> int:
    """Return the epoch, from 0, at which an attempt begins."""
    return attempt * training.restart_every


def ramp(epoch: int, first: int, last: int) -> float:
    """Return how far an epoch is on the way from `first` to `last`, 0 to 1.

    If `last` is not after `first` there is no way: all is there from `last` on.
    """
    if epoch >= last:
        return 1.0
    return max(0.0, (epoch - first) / (last - first)) if first < last else 0.0


def harden(config: Config, coefficients: Array, ops: Array, epoch: int) -> None:
    """Replace the `coefficients` (parameters, 4) of a random share of gates by one op's.

    `ops` (parameters,) are the most probable ops. Gradients with respect to these coefficients are
    used as if they were still a mixture's: the straight-through estimator of Bengio et al. 2013.
    """
    training, hardening = config.training, config.hardening
    age = epoch - first_epoch(training, attempt_of(training, epoch))
    share = hardening.share * ramp(age, hardening.from_epoch, hardening.to_epoch)
    if not share:
        return
    rng = stream(training.seed, Purpose.HARDENING, epoch, 1)
    chosen = np.flatnonzero(rng.random(len(ops)) < share)
    coefficients[chosen] = COEFFICIENTS[ops[chosen]]
