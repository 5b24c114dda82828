"""A search that changes several gates at once where no change of one helps."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import OPS, Op
from difflogic.evaluation.trial import Ops, Trial
from difflogic.search.rectifying import Rectifier
from difflogic.search.search import DRIFT, GRADIENT_COST, Search, SearchProgress

MAKING_SPARE = 4000
"""Changes that are tried for more gates that do nothing, before these become detectors."""

REMOVING = np.array((Op.FALSE, Op.TRUE, Op.FALSE, Op.TRUE, Op.A, Op.B))
"""Ops that no gate is needed for; those that need nothing before them more often."""

REMOVED = 0.8
"""Share of such ops among these changes."""

LOOSENING = 2000
"""Random changes that are tried where no rectification helps."""

LOOSE = 2.0
"""Times the active gates that a circuit may come to have by these."""

MOST_TRIED = 200
"""Rectifications of one circuit that are tried."""

SIDEWAYS = 0.5
"""Probability of keeping one that leaves as many cells wrong as before: often other ones, which
are mended more easily."""

IN_VAIN = 3
"""Times in a row that nothing could be mended, after which a search starts over: how many cells one
cannot mend is a matter of luck (Gomes, Selman and Kautz 1998)."""


class Place(NamedTuple):
    """Where a search has been."""

    ops: Ops
    wrong: int
    most_gates: float


class RectifyingSearch(Search):
    """A `Search` for circuits that have a list of starts to be right on."""

    def __init__(self, *arguments: Any) -> None:
        """`arguments` is what a `Search` is made of."""
        super().__init__(*arguments)
        self._mended = True
        """Whether the last rectifications mended anything, if there were any."""
        self._in_vain = 0
        """Times in a row that they did not."""
        self._first: Place | None = None
        """Where the search led out of first."""
        self._best: Place | None = None
        """The best of the places that it gave up."""

    def set_trial(self, trial: Trial) -> None:
        """Go on with these start states, which are all there are."""
        self._rectifier = Rectifier(self._netlist, trial.scene, trial.samples)
        self._first = self._best = None
        self._in_vain = 0
        super().set_trial(trial)

    def run(self) -> None:
        """Do what `Search.run` does; a circuit that is right becomes a simpler one that is."""
        super().run()
        if self._best is not None and self._best.wrong < self.wrong:
            self._go_to(self._best)
        if not self.wrong:
            self._simplify()

    def _leave(self) -> None:
        if self._first is None:
            self._first = self._place
        # What gates read decides whether they can be mended: where none can, that has to change.
        if self._mended:
            self._make_spare()
        else:
            self._loosen()
        self._mended = self._mend()
        self._in_vain = 0 if self._mended else self._in_vain + 1
        if self._in_vain == IN_VAIN and not self.is_over:
            self._start_over()

    def _start_over(self) -> None:
        """Go back to where the search first had to lead out of."""
        assert self._first is not None
        if self._best is None or self.wrong < self._best.wrong:
            self._best = self._place
        self._go_to(self._first)
        self._mended, self._in_vain = True, 0

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
        """Walk to circuits of fewer gates that leave no more cells wrong.

        Where no more are mended, descents that follow keep to as few gates.
        """
        self._simplify()
        end = self.candidates + MAKING_SPARE
        while not self._is_done and self.candidates < end:
            self._trial(self.ops)
            self._most_gates = self._trial.active_gates
            removed = self._rng.choice(REMOVING, DRIFT)
            others = self._rng.integers(0, OPS, DRIFT)
            self._drift(np.where(self._rng.random(DRIFT) < REMOVED, removed, others))

    def _loosen(self) -> None:
        """Walk to circuits of more gates that leave no more cells wrong.

        Descents that follow may come to as many gates.
        """
        self._trial(self.ops)
        self._most_gates = LOOSE * self._trial.active_gates
        end = self.candidates + LOOSENING
        while not self._is_done and self.candidates < end:
            self._drift(self._rng.integers(0, OPS, DRIFT))

    def _drift(self, ops: npt.NDArray) -> None:
        """Try these ops, each for a live gate that is drawn by lot."""
        gates = self._rng.choice(np.flatnonzero(self._live()), len(ops))
        self._try(list(zip(gates.tolist(), ops.tolist(), strict=True)), 1.0, len(ops))

    def _simplify(self) -> None:
        self._take(self._rectifier.simplify(self.ops))

    def _take(self, ops: Ops) -> None:
        """Go on from a circuit that leaves as many cells wrong as is known."""
        self._changes.go_to(ops)
        self.ops = ops

    def _mend(self) -> bool:
        """Mend one cell after the other, as far as that goes; return whether any was."""
        before = self.wrong
        while not self._is_done:
            self._simplify()
            found = self.wrong
            self.candidates += GRADIENT_COST
            self._on_progress(SearchProgress(self.candidates, self._budget, found))
            self._mend_by_one_trace()
            if self.wrong == found:
                break
        return self.wrong < before

    def _mend_by_one_trace(self) -> None:
        """Try what is proposed for the circuit as it is now."""
        changed = set[int]()
        for found in islice(self._rectifier.propose(self.ops, self._rng), MOST_TRIED):
            if not changed.isdisjoint(found.ops):
                continue
            self.candidates += 1
            ops = found.of(self.ops)
            wrong = int(self._trial(ops).sum())
            if wrong > self.wrong or (wrong == self.wrong and self._rng.random() >= SIDEWAYS):
                continue
            # The others are of other points: most do as much good as before.
            self.ops, self.wrong = ops, wrong
            changed.update(found.ops)
            if not wrong:
                break
        self._take(self.ops)
