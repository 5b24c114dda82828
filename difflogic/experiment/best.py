"""The best circuit of a run; [finishing] says when to search for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from difflogic.config.problem import Problem
from difflogic.search.finisher import AnyFinisher, Finished
from difflogic.search.polish import CircuitCost, Polished
from difflogic.search.walk import OnProgress
from difflogic.system.array_types import Array, Bits
from difflogic.system.streams import Purpose, stream
from difflogic.system.work import ignore
from difflogic.training.sampling import attempt_of

MISSING = -1
"""Means "not known yet" in a checkpoint."""


class Status(IntEnum):
    """What is known about the best circuit. A checkpoint stores the epoch instead of EXACT."""

    EXACT = 0
    """Verified; the certificate, if any, is in time."""
    UNVERIFIED = -1
    """No circuit is verified yet."""
    LATE = -2
    """Verified, but the certificate begins after the training step: the run continues."""


class Best(NamedTuple):
    """The best circuit so far, without its logits."""

    wrong: int
    """Wrong cells on fresh starts."""
    epoch: int
    """The epoch after which it was found."""
    known: int
    """Its `Status` if below 0; else it is exact, and this is its epoch, as checkpoints hold it."""

    @property
    def status(self) -> Status:
        """What is known about it."""
        return Status(min(self.known, Status.EXACT))


class BestCircuit:
    """Regularly checks and finishes the circuit in training, and keeps the best one.

    Searches have their own random streams for starts; neither training nor final scores use them.
    """

    def __init__(self, problem: Problem, logits: Array) -> None:
        """`logits` (16, parameters) only give shape and type."""
        self._training = problem.training
        self._finishing = problem.finishing
        self._logits = np.zeros_like(logits)
        self._best: Best | None = None
        self.gain: Polished | None = None
        """What polishing the verified circuit gained; None if none was polished."""

    def forget(self) -> None:
        """Start again for another stage of the task, where other circuits are right."""
        self._best = self.gain = None

    @property
    def logits(self) -> Array | None:
        """Logits (16, parameters) that harden to the best circuit, if there is one."""
        return None if self._best is None else self._logits

    @property
    def attempt(self) -> int:
        """The attempt that found the best circuit, from 0."""
        return 0 if self._best is None else attempt_of(self._training, self._best.epoch - 1)

    @property
    def exact_epoch(self) -> int | None:
        """The epoch after which a circuit was first verified, if any."""
        best = self._best
        return best.epoch if best is not None and best.status is Status.EXACT else None

    def is_due(self, epoch: int) -> bool:
        """Whether to `update` after this epoch."""
        finishing = self._finishing
        if not finishing.every or epoch < finishing.from_epoch:
            return False
        # Always judge the last circuit.
        return epoch == self._training.epochs or epoch % finishing.every == 0

    def update(
        self, finisher: AnyFinisher, logits: Array, epoch: int, on_progress: OnProgress = ignore
    ) -> Finished:
        """Finish the circuit that `logits` (16, parameters) harden to; keep it if it is the best.

        `finisher` is that of the wiring, which all circuits of an attempt share. `on_progress` is
        called now and then.
        """
        was_late = self._best is not None and self._best.status is Status.LATE
        found, finished = self._search(finisher, logits, epoch, 0, on_progress)
        self._keep(found, finished, epoch)
        if self._can_continue_from_best(epoch):
            again, better = self._search(finisher, self._logits, epoch, 1, on_progress)
            if self._keep(again, better, epoch):
                found = again
        if self.exact_epoch == epoch and self._finishing.polish:
            # Try only once to hasten a certificate: another attempt costs no more.
            found = self._polish(finisher, found, hasten=not was_late)
        return found

    def _can_continue_from_best(self, epoch: int) -> bool:
        """Whether the best circuit is earlier, unverified, and has the current wiring."""
        best = self._best
        return (
            best is not None
            and self._finishing.candidates > 0
            and best.epoch < epoch
            and best.status is Status.UNVERIFIED
            and self.attempt == attempt_of(self._training, epoch - 1)
        )

    def _search(
        self, finisher: AnyFinisher, logits: Array, epoch: int, number: int, on_progress: OnProgress
    ) -> tuple[Finished, Array]:
        """Search from `logits`; return the result, and logits that harden to it."""
        rng = stream(self._training.seed, Purpose.SEARCH, epoch, number)
        found = finisher.finish(logits, rng, on_progress)
        finished = logits.copy()
        make_most_probable(finished, found.ops)
        return found, finished

    def _keep(self, found: Finished, logits: Array, epoch: int) -> bool:
        if not self._is_as_good(found):
            return False
        self._logits[:] = logits
        self._best = Best(found.wrong_fresh, epoch, epoch if found.exact else Status.UNVERIFIED)
        return True

    def _is_as_good(self, found: Finished) -> bool:
        if self._best is None:
            return True
        if self._best.status is Status.EXACT:  # keep the first one
            return False
        as_few = self._best.status is Status.UNVERIFIED and found.wrong_fresh <= self._best.wrong
        return found.exact or as_few

    def _polish(self, finisher: AnyFinisher, found: Finished, hasten: bool) -> Finished:
        assert self._best is not None
        rng = stream(self._training.seed, Purpose.POLISH, self._best.epoch)
        found = finisher.polish(found, rng, hasten)
        if found.polished is not None:
            make_most_probable(self._logits, found.ops)
            self.gain = found.polished
        if found.late:
            self._best = self._best._replace(known=Status.LATE)
        return found

    def state(self) -> dict[str, Array]:
        """Return copies of all results. The configuration determines names, shapes and types."""
        state = {
            "best_logits": self._logits.copy(),
            "best": np.array(self._best or (MISSING,) * 3, np.int64),
        }
        if self._finishing.polish:
            state["polished"] = _gain_to_array(self.gain)
        return state

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to `state`."""
        self._logits[:] = state["best_logits"]
        best = Best(*state["best"].tolist())
        self._best = None if best.epoch == MISSING else best
        if self._finishing.polish:
            self.gain = _gain_from_array(state["polished"])


def _gain_to_array(gain: Polished | None) -> Array:
    """Return gates and steps, each before and after, and candidates, (5,) int64."""
    if gain is None:
        return np.full(5, MISSING, np.int64)
    gates = [gain.before.gates, gain.after.gates]
    steps = [gain.before.from_step, gain.after.from_step]
    known = [MISSING if each is None else each for each in steps]
    return np.array([*gates, *known, gain.candidates], np.int64)


def _gain_from_array(values: Array) -> Polished | None:
    gates, fewer, *steps, candidates = values.tolist()
    if gates == MISSING:
        return None
    step, sooner = (None if each == MISSING else each for each in steps)
    return Polished(CircuitCost(gates, step), CircuitCost(fewer, sooner), candidates)


def make_most_probable(logits: Array, ops: Bits) -> None:
    """Make `ops` (parameters,) the most probable of `logits` (16, parameters), in place.

    A gate's new op and its present one swap logits, so the gate stays as decided as before. If
    other ops are as probable, the new one's logit rises by the least step.
    """
    present = logits.argmax(axis=0)
    gates = np.flatnonzero(present != ops)
    old = present[gates]
    new = ops[gates]
    logits[old, gates], logits[new, gates] = logits[new, gates], logits[old, gates]
    tied = gates[logits.argmax(axis=0)[gates] != new]
    logits[ops[tied], tied] = np.nextafter(logits[ops[tied], tied], np.inf, dtype=logits.dtype)
