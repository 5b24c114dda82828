"""Rectification: unused gates become a detector of a point where the circuit goes wrong.

All cells share the gates. So a search that changes one gate at a time ends when each change that
corrects a cell breaks another. A few gates together can distinguish that cell at that step from all
others. To build such a detector, we look for a gate whose flipped value at one point (a cell and a
step) would leave fewer cells wrong, and whose op ignores one of its inputs. The gates that feed
that input are free, since no cell depends on them. They become a conjunction of signals that is
true at that point, and false wherever a change does harm. Then the gate reads the conjunction too.
Everywhere else the circuit stays the same.

In logic synthesis this is called rectification (engineering change orders; Krishnaswamy et al.
2009, "DeltaSyn"); free gates are spare cells, and points where a change has no effect are
don't-cares. The predictions are of first order, so each resulting circuit must be tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from difflogic.circuit.gates import OPS, READS, Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.detectors import Detectors, Rectification, Traced
from difflogic.engine.hard.gradients import HardGradients
from difflogic.engine.hard.hard_simulator import mark_live
from difflogic.engine.hard.slope_memory import MOST_SLOPES
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.trial import Ops, Trial, draw_samples
from difflogic.search.repair import DRIFT, GRADIENT_COST, Repair
from difflogic.search.walk import walk
from difflogic.system.array_types import Array, Flags, Int64s

MAKING_SPARE = 4000
"""Changes to try in order to free gates, before free gates become detectors."""

REMOVING_OPS = np.array((Op.FALSE, Op.TRUE, Op.FALSE, Op.TRUE, Op.A, Op.B))
"""Ops that need no gate. The constants, which read no other gate, are listed twice."""

REMOVED = 0.8
"""Share of such ops among these changes."""

LOOSENING = 2000
"""Random changes to try if no rectification helps."""

LOOSE = 2.0
"""Largest size of a circuit during these, in active gates of the one before."""

MOST_RECTIFICATIONS = 200
"""Rectifications to try per circuit."""

SIDEWAYS_SHARE = 0.5
"""Probability of keeping a rectification that leaves equally many cells wrong: often they are other
cells, which are easier to correct."""

MOST_FAILURES = 3
"""Failures in a row after which a search starts over: it is a matter of luck how many cells it can
correct (Gomes, Selman and Kautz 1998)."""


def can_rectify(scene: Scene, complete: bool) -> bool:
    """Whether all starts of a scene are known, and only the circuit changes them."""
    return complete and scene.fire_rate == 1 and scene.damage is None


class Place(NamedTuple):
    """A circuit to which a search can return."""

    ops: Ops
    wrong: int
    most_gates: float


class RepairByDetectors(Repair):
    """A repair that rectifies if no change of one gate helps. It needs all starts of the task."""

    _corrected = True
    """Whether the last rectifications corrected a cell; true before the first."""
    _failures = 0
    """Number of times in a row that they did not."""
    _first: Place | None = None
    """The first circuit where the search was stuck."""
    _best: Place | None = None
    """The best circuit given up so far."""
    _wrong_before: int | None = None
    """Cells that were wrong before the last rectifications."""

    def set_trial(self, trial: Trial) -> None:
        """Continue with the starts of `trial`, which must be all starts of the task."""
        self._rectifier = Rectifier(self._netlist, trial.scene, trial.samples)
        self._first = self._best = None
        self._failures = 0
        super().set_trial(trial)

    def run(self) -> None:
        """Search like `Repair.run`; simplify the circuit if it is right."""
        super().run()
        if self._best is not None and self._best.wrong < self.rule.wrong:
            self._go_to(self._best)
        if not self.rule.wrong:
            self._simplify()

    def _escape(self) -> None:
        if self._first is None:
            self._first = self._place
        # Wiring decides which cells can be corrected: if none can, other gates must become live.
        if self._corrected:
            self._simplify()
            walk(self._removals, self._keep, MAKING_SPARE)
        else:
            self._trial(self.ops)
            self.rule.most_gates = LOOSE * self._trial.active_gates
            walk(self._others, self._keep, LOOSENING)
        before, self._wrong_before = self.rule.wrong, None
        walk(self._rectifications, self._correct, self.rule.most_tried)
        self._corrected = self.rule.wrong < before
        self._failures = 0 if self._corrected else self._failures + 1
        if self._failures == MOST_FAILURES and self.rule.tried < self.rule.most_tried:
            self._start_over()

    def _start_over(self) -> None:
        assert self._first is not None
        if self._best is None or self.rule.wrong < self._best.wrong:
            self._best = self._place
        self._go_to(self._first)
        self._corrected = True
        self._failures = 0

    @property
    def _place(self) -> Place:
        return Place(self.ops, self.rule.wrong, self.rule.most_gates)

    def _go_to(self, place: Place) -> None:
        self._take(place.ops)
        self.rule.wrong = place.wrong
        self.rule.most_gates = place.most_gates

    def _removals(self, left: int) -> Array | None:
        """Propose ops, mostly for fewer gates; later descents keep that size."""
        if self.rule.is_over:
            return None
        self._trial(self.ops)
        self.rule.most_gates = self._trial.active_gates
        removed = self.rule.rng.choice(REMOVING_OPS, DRIFT)
        others = self.rule.rng.integers(0, OPS, DRIFT)
        return np.where(self.rule.rng.random(DRIFT) < REMOVED, removed, others)

    def _others(self, left: int) -> Array | None:
        """Propose any ops. Later descents may use the gates."""
        return None if self.rule.is_over else self.rule.rng.integers(0, OPS, DRIFT)

    def _keep(self, ops: Array) -> int:
        """Keep those of these ops, for any gates, that leave no more cells wrong."""
        return self._try(self._live_gates(len(ops)), ops)

    def _rectifications(self, left: int) -> Iterator[Rectification] | None:
        """Propose rectifications of the circuit, as long as the last ones corrected a cell."""
        rule = self.rule
        if rule.is_over or rule.wrong == self._wrong_before:
            return None
        self._simplify()
        self._wrong_before = rule.wrong
        rule.tried += GRADIENT_COST
        rule.sideways = SIDEWAYS_SHARE
        self._report()
        return islice(self._rectifier.propose(self.ops, rule.rng), MOST_RECTIFICATIONS)

    def _correct(self, found: Iterator[Rectification]) -> int:
        """Keep those that leave no more cells wrong; they concern different points."""
        rule = self.rule
        before = self.rule.tried
        changed = set[int]()
        for each in found:
            # Most of the others still help as much as before.
            if changed.isdisjoint(each.ops) and self._changes.try_alone(
                each.of(self._changes.ops), rule, any_size=True
            ):
                changed.update(each.ops)
                if not rule.wrong:
                    break
        self.ops = self._changes.ops
        return rule.tried - before

    def _simplify(self) -> None:
        self._take(self._rectifier.simplify(self.ops))

    def _take(self, ops: Ops) -> None:
        self._changes.go_to(ops)
        self.ops = ops


class Rectifier:
    """Finds rectifications of one netlist's circuits, for a fixed list of starts."""

    def __init__(self, netlist: Netlist, scene: Scene, samples: Sequence[int]) -> None:
        """`samples` are numbers of starts of `scene`, which must satisfy `can_rectify`."""
        self._netlist = netlist
        self._channels = scene.channels
        self._starts, drawn = draw_samples(scene, samples)
        targets = scene.targets(drawn)
        by_step = targets if targets.ndim == 5 else [targets] * len(scene.at)
        self._wrong = {
            step: (1.0 - 2.0 * target) * ~np.isnan(drawn)
            for step, target in zip(scene.at, by_step, strict=True)
        }
        """The slopes of the number of wrong cells, by step, (samples, L, H, W)."""
        self._hard = HardGradients(netlist, scene.grid, scene.at[-1], len(samples))
        # Changing a gate that shares its logits would change the others too.
        uses = np.bincount(netlist.param, minlength=netlist.parameters)
        self._single = uses[netlist.param] == 1
        wired = np.concatenate([netlist.a[self._single], netlist.b[self._single]])
        single = np.zeros(netlist.rows, np.bool_)
        single[netlist.inputs :] = self._single
        self._outer = np.unique(wired[~single[wired]])
        """Rows that single gates read, but that are not single gates themselves."""

    def simplify(self, ops: Ops) -> Ops:
        """Return the ops of a circuit that does the same on all starts with fewer live gates.

        A gate that is constant, or equal or opposite to one of its inputs, needs no other gate.
        """
        netlist = self._netlist
        inputs = self._netlist.inputs
        live = mark_live(netlist, ops, self._channels).live
        gates = np.flatnonzero(live[inputs:] & self._single)
        rows = np.unique(np.concatenate([inputs + gates, netlist.a[gates], netlist.b[gates]]))
        read = rows.astype(np.int32)
        self._hard.begin(ops, self._channels, read)
        values = self._hard.values(self._starts, read).reshape(len(rows), -1)
        counted = np.tile(self._hard.counted, values.shape[1] // len(self._hard.counted))
        values &= counted
        place = np.zeros(netlist.rows, np.int64)
        place[rows] = np.arange(len(rows))
        own, a, b = (
            values[place[of]] for of in (inputs + gates, netlist.a[gates], netlist.b[gates])
        )
        # An input that the op ignores may come from a gate that is not live: do not make it live.
        reads_a, reads_b = np.array(READS)[ops[netlist.param[gates]]].T
        simpler = ops.copy()
        for other, op, may in (
            (b, Op.B, reads_b),
            (b ^ counted, Op.NOT_B, reads_b),
            (a, Op.A, reads_a),
            (a ^ counted, Op.NOT_A, reads_a),
            (0 * counted, Op.FALSE, True),
            (counted, Op.TRUE, True),
        ):
            simpler[netlist.param[gates[(own == other).all(axis=1) & may]]] = op
        return simpler

    def propose(self, ops: Ops, rng: np.random.Generator) -> Detectors:
        """Return rectifications of the circuit with `ops` (parameters,), gates in random order."""
        netlist = self._netlist
        inputs = self._netlist.inputs
        live, channels, _ = mark_live(netlist, ops, self._channels)
        spare, single = np.zeros((2, netlist.rows), np.bool_)
        spare[inputs:] = ~live[inputs:] & self._single
        single[inputs:] = live[inputs:] & self._single
        reads = np.array(READS)[ops[netlist.param]]
        fed = spare[netlist.a] & ~reads[:, 0] | spare[netlist.b] & ~reads[:, 1]
        gates = rng.permutation(np.flatnonzero(single[inputs:] & fed))
        gates = gates[: max(1, MOST_SLOPES // (4 * self._hard.points))]
        steady = self._steady(live, channels, reads)
        rows = np.concatenate([np.flatnonzero(single), self._outer[steady[self._outer]]])
        return Detectors(netlist, ops, spare, self._trace(ops, rows, gates))

    def _trace(self, ops: Ops, rows: Int64s, gates: Int64s) -> Traced:
        """Return values of `rows` and slopes of `gates` at all points."""
        read = rows.astype(np.int32)
        differentiated = gates.astype(np.int32)
        self._hard.begin(ops, self._channels, read)
        values, slopes = self._hard.trace(
            self._starts, self._wrong, self._channels, read, self._netlist.inputs + differentiated
        )
        slopes = slopes.reshape(len(gates), self._hard.points)
        return Traced(read, values.reshape(len(rows), -1), differentiated, slopes)

    def _steady(self, live: Flags, channels: Flags, reads: Flags) -> Flags:
        """Return the rows, apart from single gates, that do not depend on spare gates."""
        netlist = self._netlist
        inputs = self._netlist.inputs
        steady = live.copy()
        steady[:inputs] = channels[np.arange(inputs) % netlist.channels]
        shared = np.flatnonzero(~self._single)
        a = netlist.a[shared]
        b = netlist.b[shared]
        ignores_a, ignores_b = ~reads[shared].T
        steady[inputs + shared] = True
        while True:
            # Dependence spreads by one layer per pass; there are few layers.
            found = (steady[a] | ignores_a) & (steady[b] | ignores_b)
            if np.array_equal(found, steady[inputs + shared]):
                return steady
            steady[inputs + shared] = found
