"""A search that changes several gates at once if no change of one helps."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import OPS, Op
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.rectifying import Rectifier
from difflogic.search.search import DRIFT, GRADIENT_COST, Search, SearchProgress

MAKING_SPARE = 4000
"""Changes that are tried to free gates, before free gates become detectors."""

REMOVING = np.array((Op.FALSE, Op.TRUE, Op.FALSE, Op.TRUE, Op.A, Op.B))
"""Ops that need no gate. The constants, which read no other gate, are listed twice."""

REMOVED = 0.8
"""Share of such ops among these changes."""

LOOSENING = 2000
"""Random changes that are tried if no rectification helps."""

LOOSE = 2.0
"""Largest size of a circuit during these, in active gates of the one before."""

MOST_TRIED = 200
"""Rectifications of one circuit that are tried."""

SIDEWAYS = 0.5
"""Probability of keeping one that leaves equally many cells wrong: often other cells, which are
easier to correct."""

MOST_FAILURES = 3
"""Failures in a row after which a search starts over: how many cells it cannot correct is a matter
of luck (Gomes, Selman and Kautz 1998)."""


class Place(NamedTuple):
    """A circuit that a search can return to."""

    ops: Ops
    wrong: int
    most_gates: float


class RectifyingSearch(Search):
    """A `Search` for circuits that have a list of starts to be right on."""

    _corrected = True
    """Whether the last rectifications corrected a cell; true before the first."""
    _failures = 0
    """How often in a row they did not."""
    _first: Place | None = None
    """The first circuit where the search was stuck."""
    _best: Place | None = None
    """The best circuit that it gave up."""

    def set_trial(self, trial: Trial) -> None:
        """Continue with these starts, which have to be all starts of the task."""
        self._rectifier = Rectifier(self._netlist, trial.scene, trial.samples)
        self._first = self._best = None
        self._failures = 0
        super().set_trial(trial)

    def run(self) -> None:
        """Search like `Search.run`; simplify the circuit if it is right."""
        super().run()
        if self._best is not None and self._best.wrong < self.wrong:
            self._go_to(self._best)
        if not self.wrong:
            self._simplify()

    def _escape(self) -> None:
        if self._first is None:
            self._first = self._place
        # Wiring decides which cells can be corrected: if none can, other gates have to be live.
        if self._corrected:
            self._make_spare()
        else:
            self._loosen()
        self._corrected = self._correct()
        self._failures = 0 if self._corrected else self._failures + 1
        if self._failures == MOST_FAILURES and not self.is_over:
            self._start_over()

    def _start_over(self) -> None:
        """Go back to the circuit where the search was first stuck."""
        assert self._first is not None
        if self._best is None or self.wrong < self._best.wrong:
            self._best = self._place
        self._go_to(self._first)
        self._corrected, self._failures = True, 0

    @property
    def _place(self) -> Place:
        return Place(self.ops, self.wrong, self._most_gates)

    def _go_to(self, place: Place) -> None:
        self._take(place.ops)
        self.wrong, self._most_gates = place.wrong, place.most_gates

    @property
    def _is_done(self) -> bool:
        return not self.wrong or self.is_over

    def _make_spare(self) -> None:
        """Walk to circuits with fewer gates, which later descents keep to, and no more errors."""
        self._simplify()
        end = self.candidates + MAKING_SPARE
        while not self._is_done and self.candidates < end:
            self._trial(self.ops)
            self._most_gates = self._trial.active_gates
            removed = self._rng.choice(REMOVING, DRIFT)
            others = self._rng.integers(0, OPS, DRIFT)
            self._drift(np.where(self._rng.random(DRIFT) < REMOVED, removed, others))

    def _loosen(self) -> None:
        """Walk to circuits with more gates, which later descents may use, and no more errors."""
        self._trial(self.ops)
        self._most_gates = LOOSE * self._trial.active_gates
        end = self.candidates + LOOSENING
        while not self._is_done and self.candidates < end:
            self._drift(self._rng.integers(0, OPS, DRIFT))

    def _drift(self, ops: npt.NDArray) -> None:
        """Try these ops, each on a random live gate."""
        gates = self._rng.choice(np.flatnonzero(self._live()), len(ops))
        self._try(list(zip(gates.tolist(), ops.tolist(), strict=True)), 1.0, len(ops))

    def _simplify(self) -> None:
        self._take(self._rectifier.simplify(self.ops))

    def _take(self, ops: Ops) -> None:
        """Switch to a circuit that leaves `wrong` cells wrong."""
        self._changes.go_to(ops)
        self.ops = ops

    def _correct(self) -> bool:
        """Correct cells one by one, as far as possible; return whether any was corrected."""
        before = self.wrong
        while not self._is_done:
            self._simplify()
            found = self.wrong
            self.candidates += GRADIENT_COST
            self._on_progress(SearchProgress(self.candidates, self._budget, found))
            self._correct_by_one_trace()
            if self.wrong == found:
                break
        return self.wrong < before

    def _correct_by_one_trace(self) -> None:
        """Try the rectifications of the current circuit."""
        changed = set[int]()
        for found in islice(self._rectifier.propose(self.ops, self._rng), MOST_TRIED):
            if not changed.isdisjoint(found.ops):
                continue
            self.candidates += 1
            ops = found.of(self.ops)
            wrong = int(self._trial(ops).sum())
            if wrong > self.wrong or (wrong == self.wrong and self._rng.random() >= SIDEWAYS):
                continue
            # The others concern other points: most help as much as before.
            self.ops, self.wrong = ops, wrong
            changed.update(found.ops)
            if not wrong:
                break
        self._take(self.ops)
