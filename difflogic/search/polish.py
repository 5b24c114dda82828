"""Polishing: from a proved circuit to a smaller one, or one right sooner, that is proved as well.

A search changes one gate at a time. It keeps a change if the circuit stays right, its certificate
does not begin later, and no more gates are active. Most changes that it keeps improve nothing: the
walk among equally good circuits leads to some where a gate can be removed (neutral drift: Miller
and Smith 2006). The result need not compute the same function; only the proof must hold. So
polishing finds what simplification cannot.

If a certificate begins after the training step, only samples show that the circuit is right at that
step. A further search then reduces what is unknown there, and may use some more gates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from difflogic.circuit.gates import OPS, Op
from difflogic.engine.hard.hard_simulator import live_parameters
from difflogic.evaluation.trial import Ops
from difflogic.search.changes import Changes
from difflogic.search.verifier import Verifier
from difflogic.search.walk import walk
from difflogic.system.array_types import Array, Flags

CHANGES_AT_ONCE = 64
"""Changes per batch."""

REMOVING = np.array((Op.FALSE, Op.A, Op.B, Op.TRUE))
"""Ops that need no gate: every second change is to one of these."""

HASTENING = 8
"""Most walks towards a certificate in time, each with the whole budget."""

MORE_WALK_GATES = 1.5
"""Size, in gates of the best circuit, that is allowed in every second one of these walks, plus two
gates."""

CERTIFICATE_COST = 20
"""A certificate counts as this many candidates, since it takes about as long."""


@dataclass(frozen=True)
class CircuitCost:
    """How large a circuit is, and how soon it is right; less is better."""

    gates: int
    """Active gates that the loss channels ever depend on."""
    from_step: int | None
    """The step, or round, from which a certificate holds; None if all cases are run instead."""

    def __le__(self, other: CircuitCost) -> bool:
        if (self.from_step is None) != (other.from_step is None):
            return False
        return self.gates <= other.gates and (self.from_step or 0) <= (other.from_step or 0)

    def __lt__(self, other: CircuitCost) -> bool:
        return self <= other and self != other


@dataclass(frozen=True)
class Polished:
    """What polishing gained."""

    before: CircuitCost
    after: CircuitCost
    candidates: int
    """Number of circuits tried; each certificate counts as CERTIFICATE_COST."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, each before and after."""
        gates, steps = zip(astuple(self.before), astuple(self.after), strict=True)
        from_step = None if None in steps else steps
        return {"gates": gates, "from_step": from_step, "candidates": self.candidates}


def polish(
    verifier: Verifier, verified: Ops, rng: np.random.Generator, budget: int, hasten: bool = True
) -> tuple[Ops, Polished]:
    """Return a polished circuit in place of a `verified` one, trying about `budget` candidates.

    The result is verified, and no worse in size and step. Gates that no loss channel depends on get
    the op A. If the certificate is late, spends up to HASTENING times the budget more to `hasten`
    it; the result may then have more gates.
    """
    drift = _Drift(verifier, verified, rng)
    latest = verifier.judge.latest_step
    before = drift.best
    spent = drift.shrink(budget)
    if hasten and latest is not None and drift.is_later(latest):
        for number in range(HASTENING):
            # Gates that pass their input on offer others something to read.
            ops = drift.tidied() if number % 4 == 0 else drift.kept
            spent += drift.hasten(ops, budget, latest, more_gates=number % 2 == 1)
            if not drift.is_later(latest):
                spent += drift.shrink(budget)
                break
    return drift.tidied(), Polished(before, drift.best, spent)


OpChanges = tuple[Array, Array]
"""Gates, and another op for each."""


class _Drift:
    """Walks over circuits, one gate at a time, and remembers the best verified one."""

    def __init__(self, verifier: Verifier, verified: Ops, rng: np.random.Generator) -> None:
        self._verifier = verifier
        self._rng = rng
        self.kept = verified
        self._trial = verifier.trial(verifier.first_samples)
        self._trial(verified)
        self.best = CircuitCost(self._trial.active_gates, verifier.proved_from(verified))

    def is_later(self, latest: int) -> bool:
        """Whether the best circuit's certificate begins after a step."""
        return (self.best.from_step or 0) > latest

    def shrink(self, budget: int) -> int:
        """Look for smaller circuits and earlier certificates; return how many were tried."""
        self._go_back_to(self.kept)
        return walk(
            self._propose, lambda each: self._try(each, self.best.gates, self._keep), budget
        )

    def hasten(self, ops: Ops, budget: int, latest: int, more_gates: bool) -> int:
        """Look for a certificate from the step `latest` on, by reducing what is unknown then.

        Begins at a circuit with `ops`. Returns how many circuits were tried.
        """
        self._go_back_to(ops)
        judge = self._verifier.judge
        most_gates = self.best.gates
        least = judge.unknown_in_time(ops)
        if more_gates:
            most_gates = int(MORE_WALK_GATES * most_gates) + 2

        def propose(left: int) -> OpChanges | None:
            return self._propose(left) if self.is_later(latest) else None

        def consider(ops: Ops, gates: int) -> None:
            nonlocal least
            unknown = judge.unknown_in_time(ops)
            if unknown is None or (least is not None and unknown > least):
                return
            least = unknown
            self._go_to(ops)
            # Only the certificate shows that the known cells are right, and stay right.
            step = judge.certified_step(ops)
            if step is not None and step <= latest:
                self.best = CircuitCost(gates, step)
                self.kept = ops

        return walk(propose, lambda each: self._try(each, most_gates, consider), budget)

    def _go_back_to(self, ops: Ops) -> None:
        self._trial(ops)
        self._changes = Changes(self._trial, ops)
        self._go_to(ops)

    def _go_to(self, ops: Ops) -> None:
        self._changes.go_to(ops)
        self._live = np.flatnonzero(self._live_in(ops))

    def _live_in(self, ops: Ops) -> Flags:
        return live_parameters(self._verifier.netlist, ops, self._trial.scene.channels)

    def _propose(self, left: int) -> OpChanges | None:
        """Return random live gates, and another op for each."""
        live = self._live
        count = min(CHANGES_AT_ONCE, left)
        if not len(live):
            return None
        # Draws the same as Generator.choice, several times as fast.
        gates = live[self._rng.integers(0, len(live), count)]
        removed = REMOVING[self._rng.integers(0, len(REMOVING), count)]
        others = self._rng.integers(0, OPS, count)
        ops = np.where(self._rng.random(count) < 0.5, removed, others)
        changes = ops != self._changes.ops[gates]
        return (gates[changes], ops[changes]) if changes.any() else (gates, ops)

    def _try(
        self, proposed: OpChanges, most_gates: int, consider: Callable[[Ops, int], None]
    ) -> int:
        """Consider the first circuit that leaves no bit wrong; return what that cost."""
        tried, hit, gates = self._changes.find(*proposed)
        if hit is None or gates > most_gates:
            return tried
        consider(self._changes.with_change(*(each[hit] for each in proposed)), gates)
        return tried + CERTIFICATE_COST * (self.best.from_step is not None)

    def _keep(self, ops: Ops, gates: int) -> None:
        """Go to a circuit of `gates` gates if it is proved and as good; verify a better one."""
        cost = CircuitCost(gates, self._verifier.proved_from(ops))
        if not cost <= self.best:
            return
        if cost < self.best:
            exact, failing = self._verifier.verify(ops)
            if not exact:
                if failing:
                    self._trial = self._verifier.trial(self._trial.samples + tuple(failing))
                self._go_back_to(self.kept)
                return
            self.best = cost
            self.kept = ops
        self._go_to(ops)

    def tidied(self) -> Ops:
        """Return the best circuit, with the op A for all gates that are not live."""
        return np.where(self._live_in(self.kept), self.kept, np.uint8(Op.A))
