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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import OPS, Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard import live_parameters
from difflogic.evaluation.trial import Ops
from difflogic.search.search import Changes
from difflogic.search.verifying import Verifier

AT_ONCE = 64
"""Changes per batch."""

REMOVING = np.array((Op.FALSE, Op.A, Op.B, Op.TRUE))
"""Ops that need no gate: every second change is to one of these."""

HASTENING = 8
"""Most walks towards a certificate in time, each with the whole budget."""

MORE_GATES = 1.5
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
        return self.gates <= other.gates and (self.from_step or 0) <= (other.from_step or 0)

    def __lt__(self, other: CircuitCost) -> bool:
        return self <= other and self != other


@dataclass(frozen=True)
class Polished:
    """The result of polishing."""

    ops: Ops
    """Shape (parameters,)."""
    before: CircuitCost
    after: CircuitCost
    candidates: int
    """Number of circuits tried; each certificate counts as CERTIFICATE_COST."""


def polish(
    netlist: Netlist,
    verifier: Verifier,
    verified: Ops,
    from_step: int | None,
    samples: Sequence[int],
    rng: np.random.Generator,
    budget: int,
    latest: int | None = None,
) -> Polished:
    """Polish a `verified` circuit, trying about `budget` candidates at most.

    The circuit is proved right from `from_step` on; None means that `samples` are all starts. The
    result is verified, and no worse in size and step. Gates that no loss channel depends on get the
    op A. If the result is not proved from the step `latest` on, spends up to HASTENING times the
    budget more to achieve that; the result may then have more gates.
    """
    common = netlist, verifier, rng
    walk = _Walk(*common, verified, from_step, tuple(samples))
    before, spent = walk.best, walk.spend(budget)
    if latest is not None and from_step is not None and (walk.best.from_step or 0) > latest:
        for number in range(HASTENING):
            # Gates that pass their input on offer others something to read.
            late = walk.tidied() if number % 4 == 0 else walk.kept
            hastened = _Hastening(*common, late, walk.best.from_step, walk.samples)
            hastened.aim(latest, MORE_GATES if number % 2 else None)
            spent += hastened.spend(budget)
            if hastened.is_over:
                walk = _Walk(*common, hastened.kept, hastened.best.from_step, hastened.samples)
                spent += walk.spend(budget)
                break
    return Polished(walk.tidied(), before, walk.best, spent)


class _Walk:
    """A random walk over circuits, one gate at a time, which remembers the best verified one."""

    is_over = False
    """Whether the walk has reached its goal."""

    def __init__(
        self,
        netlist: Netlist,
        verifier: Verifier,
        rng: np.random.Generator,
        verified: Ops,
        from_step: int | None,
        samples: tuple[int, ...],
    ) -> None:
        self._netlist, self._verifier = netlist, verifier
        self._rng, self.candidates = rng, 0
        self.samples = samples
        self._trial = verifier.trial(samples)
        self._restart_from(verified)
        self._at = self.best = CircuitCost(self._trial.active_gates, from_step)
        self.kept = verified.copy()
        """The best circuit."""
        self._most_gates = self.best.gates

    def spend(self, budget: int) -> int:
        """Try about `budget` candidates at most; return how many were tried."""
        while self.candidates < budget and not self.is_over:
            self._go_on(budget)
        if self._at < self.best:
            self._verify(self._ops, self._at)
        return self.candidates

    def _restart_from(self, ops: Ops) -> None:
        if self._trial.samples != self.samples:
            self._trial = self._verifier.trial(self.samples)
        self._trial(ops)
        self._changes = Changes(self._trial, ops)
        self._take(ops.copy())

    def _take(self, ops: Ops) -> None:
        self._changes.go_to(ops)
        self._ops = ops
        self._live = np.flatnonzero(live_parameters(self._netlist, ops, self._trial.scene.channels))

    def _go_on(self, budget: int) -> None:
        """Try some changes, up to the first that leaves no bit wrong."""
        gates, ops = self._draw(min(AT_ONCE, budget - self.candidates))
        if not len(gates):
            self.candidates = budget
            return
        tried, hit, active = self._changes.find(gates, ops)
        self.candidates += tried
        if hit is not None and active <= self._most_gates:
            changed = self._ops.copy()
            changed[gates[hit]] = ops[hit]
            self._consider(changed, active)

    def _consider(self, ops: Ops, gates: int) -> None:
        """Move to a circuit of `gates` gates if it is proved and as good."""
        cost = self._cost(ops, gates)
        if cost is not None and cost <= self._at:
            self._keep(ops, cost)
            self._most_gates = self._at.gates

    def _draw(self, count: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return random live gates, and another op for each."""
        live = self._live
        if not len(live):
            return live, live
        # Draws the same as Generator.choice, several times as fast.
        gates = live[self._rng.integers(0, len(live), count)]
        removed = REMOVING[self._rng.integers(0, len(REMOVING), count)]
        others = self._rng.integers(0, OPS, count)
        ops = np.where(self._rng.random(count) < 0.5, removed, others)
        changes = ops != self._ops[gates]
        return (gates[changes], ops[changes]) if changes.any() else (gates, ops)

    def _cost(self, ops: Ops, gates: int) -> CircuitCost | None:
        """Return a circuit's size and step; None if it is not proved."""
        if self.best.from_step is None:
            return CircuitCost(gates, None)
        self.candidates += CERTIFICATE_COST
        step = self._verifier.judge.certified_step(ops)
        return None if step is None else CircuitCost(gates, step)

    def _keep(self, ops: Ops, cost: CircuitCost) -> None:
        """Move to a circuit. If it is better than the best, verify it first."""
        if cost < self.best:
            self._verify(ops, cost)
        else:
            self._at = cost
            self._take(ops)

    def _verify(self, ops: Ops, cost: CircuitCost) -> None:
        """Move to a circuit if it is verified, else back to the best one."""
        exact, failing = self._verifier.verify(ops)
        if exact:
            self._at = self.best = cost
            self.kept = ops.copy()
            self._take(ops)
        else:
            self.samples += tuple(failing)
            self._at = self.best
            self._restart_from(self.kept)

    def tidied(self) -> Ops:
        """Return the best circuit, with the op A for all gates that are not live."""
        live = live_parameters(self._netlist, self.kept, self._trial.scene.channels)
        return np.where(live, self.kept, np.uint8(Op.A))


class _Hastening(_Walk):
    """A walk towards a circuit proved from step `latest` on, by reducing what is unknown then."""

    def aim(self, latest: int, more_gates: float | None) -> None:
        """Set the goal, and by what factor the gates may grow; None allows no more gates."""
        self._due = latest
        self._unknown = self._verifier.judge.unknown_in_time(self.kept)
        if more_gates:
            self._most_gates = int(more_gates * self._most_gates) + 2

    def _consider(self, ops: Ops, gates: int) -> None:
        self.candidates += CERTIFICATE_COST
        unknown = self._verifier.judge.unknown_in_time(ops)
        if unknown is None or (self._unknown is not None and unknown > self._unknown):
            return
        self._unknown = unknown
        self._take(ops)
        # Only the certificate shows that the known cells are right, and stay right.
        step = self._verifier.judge.certified_step(ops)
        if step is not None and step <= self._due:
            self.best = CircuitCost(gates, step)
            self.kept = ops.copy()
            self.is_over = True
