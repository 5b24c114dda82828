"""Polishing: from a proved circuit to a smaller one, right sooner, that is proved as well.

A search changes one gate after the other and keeps a change if the circuit stays right, its
certificate does not come later, and no more gates matter. Most such changes make nothing better,
and are kept all the same: the walk among circuits that are as good leads to where a gate can go
(neutral drift: Miller and Smith 2006). What it leads to need not compute the same function: only
the proof has to hold. So it finds what no simplification can.

A certificate that begins after the step at which the circuit has to be right leaves that step to
samples. Then a search goes on for less that is unknown at that step, with some more gates at need.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from difflogic.circuit.gates import OPS, Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.candidates import Batch
from difflogic.engine.hard import live_parameters
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Changes, Ops, Trial
from difflogic.system.ranks import ALONE, Ranks

AT_ONCE = 64
"""Changes that are drawn at a time."""

MOST_AHEAD = 8
"""Batches of these that are drawn ahead at most, of which those after one that leads somewhere are
drawn again: the more there were of late that did not, the more are."""

REMOVING = np.array((Op.FALSE, Op.A, Op.B, Op.TRUE))
"""Ops that no gate is needed for: every other change is to one of these."""

HASTENING = 8
"""Walks to a certificate that is not late, at most, each with the budget of the others."""

MORE_GATES = 1.5
"""Times the gates, and two besides, that a circuit may have in every other one of these walks."""

CERTIFICATE_COST = 20
"""Candidates that take about as long as a certificate: what one counts for in the budget."""


@dataclass(frozen=True)
class Extent:
    """How large a circuit is, and how soon it is right: the less the better."""

    gates: int
    """Active gates that the loss channels ever depend on."""
    from_step: int | None
    """The step, or round, from which a certificate holds; None where all cases are run."""

    def __le__(self, other: Extent) -> bool:
        return self.gates <= other.gates and (self.from_step or 0) <= (other.from_step or 0)

    def __lt__(self, other: Extent) -> bool:
        return self <= other and self != other


@dataclass(frozen=True)
class Polished:
    """What polishing made of a circuit."""

    ops: Ops
    """Shape (parameters,)."""
    before: Extent
    after: Extent
    candidates: int
    """Circuits that were tried, certificates counted as CERTIFICATE_COST each."""


class Prover(Protocol):
    """Says whether circuits are right."""

    def verify(self, ops: Ops) -> tuple[bool, list[int]]:
        """Tell whether a circuit is exact and proved, and give counterexamples if it is not."""

    def certified_step(self, ops: Ops) -> int | None:
        """Return the step from which sets of values prove a circuit right; None if they do not."""

    def unknown_in_time(self, ops: Ops) -> int | None:
        """Return the cells that sets leave unknown at the first step that counts.

        None if they do not prove a circuit right later on.
        """

    def trial(self, samples: Sequence[int]) -> Trial:
        """Return the trial of start states by their numbers."""


def polish(
    netlist: Netlist,
    prover: Prover,
    verified: Ops,
    from_step: int | None,
    samples: Sequence[int],
    workers: Workers,
    rng: np.random.Generator,
    budget: int,
    ranks: Ranks = ALONE,
    due: int | None = None,
) -> Polished:
    """Polish a `verified` circuit by at most about `budget` candidates.

    It is proved right from `from_step` on; None says that `samples` are all start states there
    are. The result is verified, and no worse in either respect; its gates that the loss channels
    never depend on pass their first input on. Where it is proved later than from the step `due` on,
    HASTENING times the budget more may be spent to change that, and then its gates may be more. The
    `workers`, who change no bit of it, are entered already; all `ranks` do it together.
    """
    common = netlist, prover, workers, rng, ranks
    walk = _Walk(*common, verified, from_step, tuple(samples))
    before, spent = walk.best, walk.spend(budget)
    if due is not None and from_step is not None and (walk.best.from_step or 0) > due:
        for number in range(HASTENING):
            # Where gates that do not matter pass inputs on, others can read these.
            late = walk.tidied() if number % 4 == 0 else walk.kept
            late_walk = late, walk.best.from_step, walk.samples
            more_gates = MORE_GATES if number % 2 else None
            hastened = _Hastening(*common, *late_walk, due, more_gates)
            spent += hastened.spend(budget)
            if hastened.is_over:
                walk = _Walk(*common, hastened.kept, hastened.best.from_step, hastened.samples)
                spent += walk.spend(budget)
                break
    return Polished(walk.tidied(), before, walk.best, spent)


class _Walk:
    """A circuit that changes gate by gate, and the best one that was verified on the way."""

    is_over = False
    """Whether there is nothing more to be looked for."""

    def __init__(
        self,
        netlist: Netlist,
        prover: Prover,
        workers: Workers,
        rng: np.random.Generator,
        ranks: Ranks,
        verified: Ops,
        from_step: int | None,
        samples: tuple[int, ...],
    ) -> None:
        self._netlist, self._prover = netlist, prover
        self._workers, self._rng, self._ranks = workers, rng, ranks
        self.candidates, self._ahead = 0, 1
        self.samples = samples
        self._restart_from(verified)
        self._at = self.best = Extent(self._trial.active_gates, from_step)
        self.kept = verified.copy()
        """The best circuit."""
        self._most_gates = self.best.gates

    def spend(self, budget: int) -> int:
        """Go on for at most about so many candidates; return how many there were."""
        while self.candidates < budget and not self.is_over:
            self._go_on(budget)
        return self.candidates

    def _restart_from(self, ops: Ops) -> None:
        """Go on from a circuit, with the start states that there are now."""
        self._trial = self._prover.trial(self.samples)
        self._trial(ops)
        self._changes = Changes(self._trial, self._workers, ops, self._ranks)
        self._take(ops.copy())

    def _take(self, ops: Ops) -> None:
        self._changes.go_to(ops)
        self._ops = ops
        self._live = np.flatnonzero(live_parameters(self._netlist, ops, self._trial.scene.channels))

    def _go_on(self, budget: int) -> None:
        """Try some changes, up to one that is kept."""
        batches, states = self._draw_batches(budget)
        if not len(batches[0][0]):
            self.candidates = budget
            return
        with closing(self._changes.rounds(batches, self._most_gates)) as rounds:
            for number, tried, hit, active in rounds:
                self.candidates += tried
                if hit is None:
                    continue
                gates, ops = batches[number]
                changed = self._ops.copy()
                changed[gates[hit]] = ops[hit]
                is_other = self._consider(changed, active)
                left = len(batches) - 1 - number
                if is_other or budget - self.candidates < AT_ONCE * left:
                    # As if no more had been drawn.
                    self._rng.bit_generator.state = states[number]
                    self._ahead = 1 if is_other else self._ahead
                    return
        self._ahead = min(2 * self._ahead, MOST_AHEAD)

    def _consider(self, ops: Ops, gates: int) -> bool:
        """Perhaps go on from a circuit that has so many gates, and no start state wrong.

        Returns whether what there is to go on from has changed.
        """
        extent = self._extent(ops, gates)
        if extent is None or not extent <= self._at:
            return False
        self._keep(ops, extent)
        self._most_gates = self._at.gates
        return True

    def _draw_batches(self, budget: int) -> tuple[list[Batch], list[Any]]:
        """Return batches of changes, and where the random numbers are after each.

        Each is what would be drawn if none before it led anywhere.
        """
        left = budget - self.candidates
        batches, states = [], []
        for _ in range(max(1, min(self._ahead, left // AT_ONCE))):
            batches.append(self._draw(min(AT_ONCE, left)))
            states.append(self._rng.bit_generator.state)
        return batches, states

    def _draw(self, count: int) -> Batch:
        """Return gates that matter, and another op for each."""
        live = self._live
        if not len(live):
            return live, live
        # As Generator.choice draws, which takes several times as long.
        gates = live[self._rng.integers(0, len(live), count)]
        removed = REMOVING[self._rng.integers(0, len(REMOVING), count)]
        others = self._rng.integers(0, OPS, count)
        ops = np.where(self._rng.random(count) < 0.5, removed, others)
        changes = ops != self._ops[gates]
        return (gates[changes], ops[changes]) if changes.any() else (gates, ops)

    def _extent(self, ops: Ops, gates: int) -> Extent | None:
        """Return a circuit's extent; None if it is not proved."""
        if self.best.from_step is None:
            return Extent(gates, None)
        self.candidates += CERTIFICATE_COST
        step = self._prover.certified_step(ops)
        return None if step is None else Extent(gates, step)

    def _keep(self, ops: Ops, extent: Extent) -> None:
        """Go on from a circuit; where it is better than the best, that has to be verified."""
        if not extent < self.best:
            self._at = extent
            self._take(ops)
            return
        exact, failing = self._prover.verify(ops)
        if exact:
            self._at = self.best = extent
            self.kept = ops.copy()
            self._take(ops)
        else:
            self.samples += tuple(failing)
            self._at = self.best
            self._restart_from(self.kept)

    def tidied(self) -> Ops:
        """Return the best circuit, all gates that do not matter passing their first input on."""
        live = live_parameters(self._netlist, self.kept, self._trial.scene.channels)
        return np.where(live, self.kept, np.uint8(Op.A))


class _Hastening(_Walk):
    """A walk to a circuit that is proved from the step `due` on: less and less is unknown then."""

    def __init__(self, *of_walk: Any) -> None:
        *walk, self._due, more_gates = of_walk
        super().__init__(*walk)
        self._unknown = self._prover.unknown_in_time(self.kept)
        if more_gates:
            self._most_gates = int(more_gates * self._most_gates) + 2

    def _consider(self, ops: Ops, gates: int) -> bool:
        self.candidates += CERTIFICATE_COST
        unknown = self._prover.unknown_in_time(ops)
        if unknown is None or (self._unknown is not None and unknown > self._unknown):
            return False
        self._unknown = unknown
        self._take(ops)
        # It alone says whether what is known then is right, and stays.
        step = self._prover.certified_step(ops)
        if step is not None and step <= self._due:
            self.best = Extent(gates, step)
            self.kept = ops.copy()
            self.is_over = True
        return True
