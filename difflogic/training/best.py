"""The best circuit of a run: looked for as [finishing] says, verified, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.search.finishing import Finished, Finisher
from difflogic.search.search import OnProgress
from difflogic.system.callbacks import ignore
from difflogic.system.streams import Purpose, stream
from difflogic.training.levers import attempt_of

Array = npt.NDArray[Any]

NONE = -1
"""Stands for an epoch, or a count, that there is not yet."""

LATE = -2
"""Stands for the epoch after which a circuit was verified, where the best one would be but for its
certificate: that begins after the training step, which is left to samples. So the run goes on."""


@dataclass(frozen=True)
class Gain:
    """What polishing gained, before and after."""

    gates: tuple[int, int]
    """Active gates that the loss channels ever depend on."""
    from_step: tuple[int, int] | None
    """The step, or round, from which a certificate holds; None for what has none."""
    candidates: int
    """Circuits that were tried for it."""


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
        self._gain = np.full(5, NONE, np.int64)

    @property
    def logits(self) -> Array | None:
        """Logits (16, parameters) whose most probable ops are the best circuit; None if none."""
        return None if self._epoch == NONE else self._logits

    @property
    def epoch(self) -> int | None:
        """Epoch after which the best circuit was found; None if none was yet."""
        return None if self._epoch == NONE else self._epoch

    @property
    def attempt(self) -> int:
        """The number of the attempt that the best circuit is of."""
        return attempt_of(self._config.training, max(1, self._epoch) - 1)

    @property
    def exact_epoch(self) -> int | None:
        """Epoch after which a circuit was first verified; None if none was yet."""
        return None if self._exact_epoch < 0 else self._exact_epoch

    @property
    def gain(self) -> Gain | None:
        """What polishing the verified circuit gained; None if none was polished."""
        fewer, least, late, soon, candidates = self._gain.tolist()
        if fewer == NONE:
            return None
        return Gain((fewer, least), None if soon == NONE else (late, soon), candidates)

    def is_due(self, epoch: int) -> bool:
        """Whether to `look` after so many epochs."""
        finishing = self._finishing
        if not finishing.every or epoch < finishing.from_epoch:
            return False
        # At the end, too, or the last circuit would never be judged.
        return epoch == self._config.training.epochs or epoch % finishing.every == 0

    def look(
        self, finisher: Finisher, logits: Array, epoch: int, on_progress: OnProgress = ignore
    ) -> Finished:
        """Check the circuit that `logits` (16, parameters) harden to, and finish it.

        `finisher` is the one for its wiring, which all circuits of an attempt share. `on_progress`
        is called now and then.
        """
        was_late, here = self._exact_epoch == LATE, attempt_of(self._config.training, epoch - 1)
        found, finished = self._search(finisher, logits, epoch, 0, on_progress)
        self._keep(found, finished, epoch)
        earlier = self.attempt == here and self._epoch < epoch
        if earlier and self._exact_epoch == NONE:
            # An earlier circuit was better, so a search goes on from there, too. (Not from one
            # of another wiring.)
            again, better = self._search(finisher, self._logits, epoch, 1, on_progress)
            self._keep(again, better, epoch)
            if self._epoch == epoch:
                found = again
        if self._exact_epoch == epoch and self._finishing.polish:
            # Once it is hastened in vain: another attempt costs no more than that does.
            found = self._polish(finisher, found, hasten=not was_late)
            if found.late:
                self._exact_epoch = LATE
        return found

    def _polish(self, finisher: Finisher, found: Finished, hasten: bool) -> Finished:
        """Polish the circuit that was just verified."""
        rng = stream(self._seed, Purpose.POLISH, self._epoch)
        polished = finisher.polish(found, rng, hasten)
        if polished.polished is not None:
            prefer(self._logits, polished.ops)
            before, after = polished.polished.before, polished.polished.after
            steps = [NONE if step is None else step for step in (before.from_step, after.from_step)]
            self._gain[:] = [before.gates, after.gates, *steps, polished.polished.candidates]
        return polished

    def _search(
        self, finisher: Finisher, logits: Array, epoch: int, number: int, on_progress: OnProgress
    ) -> tuple[Finished, Array]:
        """Return what a search from `logits` found, and logits that harden to it."""
        rng = stream(self._seed, Purpose.SEARCH, epoch, number)
        found = finisher.finish(logits, rng, on_progress)
        finished = logits.copy()
        prefer(finished, found.ops)
        return found, finished

    def _keep(self, found: Finished, logits: Array, epoch: int) -> None:
        """Keep a circuit that is as good as the best so far; the first exact one stays.

        One whose certificate is late gives way to the next that is exact, late or not.
        """
        if self._wrong == NONE:
            worse = False
        elif self._exact_epoch == LATE:
            worse = not found.exact
        else:
            worse = found.wrong_fresh > self._wrong and not found.exact
        if self._exact_epoch >= 0 or worse:
            return
        self._logits[:] = logits
        self._wrong, self._epoch = found.wrong_fresh, epoch
        if found.exact:
            self._exact_epoch = epoch

    def state(self) -> dict[str, Array]:
        """Return copies of what is kept."""
        state = {
            "best_logits": self._logits.copy(),
            "best": np.array([self._wrong, self._epoch, self._exact_epoch], np.int64),
        }
        if self._finishing.polish:
            state["polished"] = self._gain.copy()
        return state

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to where `state` was taken."""
        self._logits[:] = state["best_logits"]
        self._wrong, self._epoch, self._exact_epoch = state["best"].tolist()
        if self._finishing.polish:
            self._gain[:] = state["polished"]


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
