"""The best circuit of a run: looked for as [finishing] says, verified, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.rollout import Sharing
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Streams
from difflogic.netlist import Netlist
from difflogic.streams import Purpose, stream
from difflogic.training.finishing import ROUND, Finished, Finisher
from difflogic.training.sensitivity import GradientSensitivity

Array = npt.NDArray[Any]

NONE = -1
"""Stands for an epoch, or a count, that there is not yet."""


class BestCircuit:
    """Checks, and finishes, the circuit in training now and then. Use it in a `with`.

    Its start states are drawn from streams of their own: neither those that training draws, nor
    those of the final scores.
    """

    def __init__(self, config: Config, logits: Array, sharing: Sharing) -> None:
        """`logits` (16, parameters) only give shape and type. Call `begin` before all else."""
        self._config, self._sharing = config, sharing
        self._settings, self._seed = config.finishing, config.training.seed
        self._workers = Workers(sharing.workers)
        self._sensitivity: GradientSensitivity | None = None
        self._since = 0
        self._logits = np.zeros_like(logits)
        self._wrong = NONE
        self._epoch = NONE
        self._exact_epoch = NONE

    def begin(self, netlist: Netlist, epoch: int) -> None:
        """Look at circuits of `netlist` after `epoch`; what was the best before is kept."""
        self._since = epoch
        if not self._settings.every:
            return
        streams = Streams(self._seed, Purpose.CHECK_START, Purpose.CHECK_MASK)
        plan = Plan.of(self._config, ROUND, streams)
        steps = self._config.automaton.steps
        self._sensitivity = GradientSensitivity(
            netlist, plan, steps, self._logits.dtype, self._sharing
        )
        self._finisher = Finisher(netlist, plan, self._settings, self._sensitivity, self._workers)

    def __enter__(self) -> BestCircuit:
        if self._sensitivity is not None:
            self._sensitivity.__enter__()
            self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._sensitivity is not None:
            self._workers.__exit__(*raised)
            self._sensitivity.__exit__(*raised)

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
        settings = self._settings
        if not settings.every:
            return False
        if epoch == self._config.training.epochs:  # or the last circuit would never be judged
            return True
        return epoch >= settings.from_epoch and epoch % settings.every == 0

    def look(self, logits: Array, epoch: int) -> Finished:
        """Check the circuit that `logits` (16, parameters) harden to, and finish it.

        Changes `logits` in place if the search is to be adopted.
        """
        found, finished = self._search(logits, epoch, 0)
        self._keep(found, finished, epoch)
        last = epoch == self._config.training.epochs
        # Not at the end: a run that is extended goes on as if it had never stopped there.
        if self._settings.adopt and not last and 2 * found.wrong <= found.wrong_before:
            logits[:] = finished
        if self._since < self._epoch < epoch and self._exact_epoch == NONE:
            # An earlier circuit was better, so a search goes on from there, too. (Not from one
            # of another wiring.)
            again, finished = self._search(self._logits, epoch, 1)
            self._keep(again, finished, epoch)
            found = again if self._epoch == epoch else found
        return found

    def _search(self, logits: Array, epoch: int, number: int) -> tuple[Finished, Array]:
        """Return what a search from `logits` found, and logits that harden to it."""
        rng = stream(self._seed, Purpose.SEARCH, epoch, number)
        found = self._finisher.finish(logits, rng)
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
