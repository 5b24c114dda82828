"""The best circuit of a run: looked for as [finishing] says, verified, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.streams import Purpose, stream
from difflogic.training.finishing import Finished, Finisher

Array = npt.NDArray[Any]

NONE = -1
"""Stands for an epoch, or a count, that there is not yet."""


class BestCircuit:
    """Checks, and finishes, the circuit in training now and then, and keeps the best.

    The searches' start states are drawn from streams of their own: neither those that training
    draws, nor those of the final scores.
    """

    def __init__(self, config: Config, logits: Array) -> None:
        """`logits` (16, parameters) only give shape and type."""
        self._config = config
        self._finishing, self._seed = config.finishing, config.training.seed
        self._logits = np.zeros_like(logits)
        self._wrong = NONE
        self._epoch = NONE
        self._exact_epoch = NONE

    @property
    def logits(self) -> Array | None:
        """Logits (16, parameters) whose most probable ops are the best circuit; None if none."""
        return None if self._epoch == NONE else self._logits

    @property
    def epoch(self) -> int | None:
        """Epoch after which the best circuit was found; None if none was yet."""
        return None if self._epoch == NONE else self._epoch

    @property
    def exact_epoch(self) -> int | None:
        """Epoch after which a circuit was first verified; None if none was yet."""
        return None if self._exact_epoch == NONE else self._exact_epoch

    def is_due(self, epoch: int) -> bool:
        """Whether to `look` after so many epochs."""
        finishing = self._finishing
        if not finishing.every or epoch < finishing.from_epoch:
            return False
        # At the end, too, or the last circuit would never be judged.
        return epoch == self._config.training.epochs or epoch % finishing.every == 0

    def look(self, finisher: Finisher, logits: Array, epoch: int, since: int) -> Finished:
        """Check the circuit that `logits` (16, parameters) harden to, and finish it.

        `finisher` is that of its wiring, which circuits of after epoch `since` have. Changes
        `logits` in place if the search is to be adopted.
        """
        found, finished = self._search(finisher, logits, epoch, 0)
        self._keep(found, finished, epoch)
        last = epoch == self._config.training.epochs
        # Not at the end: a run that is extended goes on as if it had never stopped there.
        if self._finishing.adopt and not last and 2 * found.wrong <= found.wrong_before:
            logits[:] = finished
        if since < self._epoch < epoch and self._exact_epoch == NONE:
            # An earlier circuit was better, so a search goes on from there, too. (Not from one
            # of another wiring.)
            again, finished = self._search(finisher, self._logits, epoch, 1)
            self._keep(again, finished, epoch)
            found = again if self._epoch == epoch else found
        return found

    def _search(
        self, finisher: Finisher, logits: Array, epoch: int, number: int
    ) -> tuple[Finished, Array]:
        """Return what a search from `logits` found, and logits that harden to it."""
        rng = stream(self._seed, Purpose.SEARCH, epoch, number)
        found = finisher.finish(logits, rng)
        finished = logits.copy()
        prefer(finished, found.ops)
        return found, finished

    def _keep(self, found: Finished, logits: Array, epoch: int) -> None:
        """Keep a circuit that is as good as the best so far; the first exact one stays."""
        worse = self._wrong != NONE and found.wrong_fresh > self._wrong
        if self._exact_epoch != NONE or (worse and not found.exact):
            return
        self._logits[:] = logits
        self._wrong, self._epoch = found.wrong_fresh, epoch
        if found.exact:
            self._exact_epoch = epoch

    def state(self) -> dict[str, Array]:
        """Return copies of what is kept."""
        return {
            "best_logits": self._logits.copy(),
            "best": np.array([self._wrong, self._epoch, self._exact_epoch], np.int64),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to where `state` was taken."""
        self._logits[:] = state["best_logits"]
        self._wrong, self._epoch, self._exact_epoch = state["best"].tolist()


def prefer(logits: Array, ops: npt.NDArray[np.uint8]) -> None:
    """Make `ops` (parameters,) the most probable of `logits` (16, parameters), in place.

    A gate's op of choice and its present one trade logits, so that it stays as sure as it was;
    where several are the most probable, that of choice then exceeds them by the least there is.
    """
    present = logits.argmax(axis=0)
    gates = np.flatnonzero(present != ops)
    old, new = present[gates], ops[gates]
    logits[old, gates], logits[new, gates] = logits[new, gates], logits[old, gates]
    tied = gates[logits.argmax(axis=0)[gates] != new]
    logits[ops[tied], tied] = np.nextafter(logits[ops[tied], tied], np.inf, dtype=logits.dtype)
