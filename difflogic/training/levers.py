"""Levers of learning beside the reference recipe: a falling learning rate, and hardening.

Each is off by default, and draws what it draws from a stream named by the epoch, so that a
resumed run goes on with the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import COEFFICIENTS, OPS
from difflogic.config import Config
from difflogic.config.learning import TrainingConfig
from difflogic.system.streams import Purpose, stream

Array = npt.NDArray[Any]


def counts_attempts(config: Config) -> bool:
    """Whether an epoch's number alone does not tell which attempt it belongs to."""
    return bool(config.pool.restart_every or config.training.abandon_after)


def attempt_before(training: TrainingConfig, epochs: int) -> int:
    """Return which attempt, from 0, the last of `epochs` was of, where restarts are regular."""
    return max(0, epochs - 1) // training.restart_every if training.restart_every else 0


def first_epoch(training: TrainingConfig, attempt: int) -> int:
    """Return the epoch, from 0, at which an attempt begins, where restarts are regular."""
    return attempt * training.restart_every


def ramp(epoch: int, first: int, last: int) -> float:
    """Return how far an epoch is on the way from `first` to `last`, 0 to 1.

    If `last` is not after `first` there is no way: all is there from `last` on.
    """
    if epoch >= last:
        return 1.0
    return max(0.0, (epoch - first) / (last - first)) if first < last else 0.0


def rate_share(config: Config, age: int) -> float:
    """Return the learning rate as a share of the first: half a cosine, from 1 to `share`.

    It is that of an epoch so many epochs after learning began, or started over.
    Source: Loshchilov and Hutter 2017, "SGDR", equation 5, without restarts.
    """
    schedule = config.schedule
    done = ramp(age, schedule.from_epoch, schedule.to_epoch)
    return schedule.share + (1 - schedule.share) * 0.5 * (1 + np.cos(np.pi * done))


class Hardening:
    """Brings a soft circuit close to a hard one while it is trained; see [hardening]."""

    def __init__(self, config: Config, parameters: int) -> None:
        self._config = config.hardening
        self._training = config.training
        self._parameters = parameters
        self.since = 0
        """The epoch, from 0, at which learning began, or last started over."""
        self.at_full_strength = False
        """Whether it has grown to its end, whatever the epoch says."""

    def noise(self, epoch: int) -> Array | None:
        """Return Gumbel noise for the logits, (16, parameters) in float64; None if there is none.

        Source: Jang et al. 2017; for logic gates arXiv 2506.07500.
        """
        scale = self._config.gumbel * self._strength(epoch)
        if not scale:
            return None
        return scale * self._rng(epoch, 0).gumbel(size=(OPS, self._parameters))

    def harden(self, coefficients: Array, probabilities: Array, ops: Array, epoch: int) -> Array:
        """Replace the `coefficients` (parameters, 4) of a random share of gates by one op's.

        `probabilities` is (16, parameters), `ops` (parameters,) the most probable ops. Returns the
        places of these gates, ascending. Gradients with respect to their coefficients are used as
        if these were still a mixture's, the one that `mixtures` gives: the straight-through
        estimator of Bengio et al. 2013.
        """
        share = self._config.share * self._strength(epoch)
        if not share:
            return np.empty(0, np.int64)
        rng = self._rng(epoch, 1)
        chosen = np.flatnonzero(rng.random(self._parameters) < share)
        if self._config.op == "sample":
            below = np.cumsum(probabilities[:, chosen], axis=0) < rng.random(len(chosen))
            # Rounding may leave the last sum below 1.
            taken = np.minimum(below.sum(axis=0), OPS - 1)
        else:
            taken = ops[chosen]
        coefficients[chosen] = COEFFICIENTS[taken]
        return chosen

    def mixtures(
        self, probabilities: Array, gradients: Array, chosen: Array
    ) -> tuple[Array, Array]:
        """Return the mixtures (16, parameters) to take a gradient back through, and that gradient.

        `gradients` (parameters, 4) is dL/d(coefficients). Of the `chosen` gates, which ran as one
        op, the mixture is softened, or sharpened, by a temperature T that follows from how sure
        the gate is: softmax(logits / T), whose derivative by the logits has a factor 1 / T, which
        the gradient gets. Nothing is changed in place.
        Source: arXiv 2603.14157, with the confidence of each gate in place of an average.
        """
        unsure, sure = self._config.temperature_unsure, self._config.temperature_sure
        if unsure == sure == 1.0 or not len(chosen):
            return probabilities, gradients
        ran = probabilities[:, chosen].astype(np.float64)
        certainty = (ran.max(axis=0) - 1 / OPS) / (1 - 1 / OPS)
        temperature = unsure + (sure - unsure) * certainty
        # Of softmax(z) the power 1 / T is in proportion to exp(z / T).
        powers = ran ** (1 / temperature)
        softened, scaled = probabilities.copy(), gradients.copy()
        softened[:, chosen] = powers / powers.sum(axis=0)
        scaled[chosen] /= temperature[:, None]
        return softened, scaled

    def pressure(self, probabilities: Array, rate: float, epoch: int) -> Array | None:
        """Return a step of the logits (16, parameters) down the gates' entropies; None if none.

        Apart from AdamW, as decoupled weight decay is. The gradient of a gate's entropy H with
        respect to its logits is -p · (log p + H).
        """
        pressure = rate * self._config.entropy * self._strength(epoch)
        if not pressure:
            return None
        tiny = np.finfo(probabilities.dtype).tiny
        logarithms = np.log(np.maximum(probabilities, tiny))
        entropy = -(probabilities * logarithms).sum(axis=0)
        step: Array = pressure * probabilities * (logarithms + entropy)
        return step

    def _strength(self, epoch: int) -> float:
        if self.at_full_strength:
            return 1.0
        lever = self._config
        return ramp(epoch - self.since, lever.from_epoch, lever.to_epoch)

    def _rng(self, epoch: int, use: int) -> np.random.Generator:
        return stream(self._training.seed, Purpose.HARDENING, epoch, use)
