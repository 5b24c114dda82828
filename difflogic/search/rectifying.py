"""Rectification: unused gates become a detector of a point where the circuit goes wrong.

All cells share the gates. So a search that changes one gate at a time ends when each change that
corrects a cell breaks another. A few gates together can distinguish that cell at that step from all
others. To build such a detector, we look for a gate whose flipped value at one point (a cell and a
step) would leave fewer cells wrong, and whose op ignores one of its inputs. The gates that feed
that input are free, since no cell depends on them. They become a conjunction of signals that is
true at that point, and false wherever a change does harm. Then the gate reads the conjunction, too.
Everywhere else the circuit stays the same.

In logic synthesis this is called rectification (engineering change orders; Krishnaswamy et al.
2009, "DeltaSyn"); free gates are spare cells, and points where a change has no effect are
don't-cares. The predictions are of first order, so each resulting circuit has to be tried.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import READS, Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.detectors import MOST_SLOPES, Detectors
from difflogic.engine.hard import mark_live
from difflogic.engine.hard_gradients import HardGradients
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.trial import Ops, draw_samples


def can_rectify(scene: Scene, complete: bool) -> bool:
    """Whether all starts of a scene are known, and only the circuit changes them."""
    return complete and scene.fire_rate == 1 and scene.damage is None


class Rectifier:
    """Finds rectifications of one netlist's circuits, for a fixed list of starts."""

    def __init__(self, netlist: Netlist, scene: Scene, samples: Sequence[int]) -> None:
        """`samples` are numbers of starts of `scene`, which has to satisfy `can_rectify`."""
        self._netlist, self._channels = netlist, scene.channels
        self._starts, drawn = draw_samples(scene, samples)
        targets = scene.targets(drawn)
        each = targets if targets.ndim == 5 else [targets] * len(scene.at)
        self._wrong = {
            step: (1.0 - 2.0 * target) * ~np.isnan(drawn)
            for step, target in zip(scene.at, each, strict=True)
        }
        """The slopes of the number of wrong cells, by step, (samples, L, H, W)."""
        self._hard = HardGradients(netlist, scene.grid, scene.at[-1], len(samples))
        # Changing a gate that shares its logits with others would change these, too.
        uses = np.bincount(netlist.param, minlength=netlist.parameters)
        self._single = uses[netlist.param] == 1
        if netlist.fixed is not None:
            self._single &= ~netlist.fixed[netlist.param]
        wired = np.concatenate([netlist.a[self._single], netlist.b[self._single]])
        single = np.zeros(netlist.rows, np.bool_)
        single[netlist.inputs :] = self._single
        self._outer = np.unique(wired[~single[wired]])
        """Rows that single gates read and that do not belong to single gates."""

    def simplify(self, ops: Ops) -> Ops:
        """Return the ops of a circuit that does the same on all starts with fewer live gates.

        A gate that is constant, or equal or opposite to one of its inputs, needs no other gate.
        """
        netlist, inputs = self._netlist, self._netlist.inputs
        live, _ = mark_live(netlist, ops, self._channels)
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
        netlist, inputs = self._netlist, self._netlist.inputs
        live, channels = mark_live(netlist, ops, self._channels)
        spare, single = np.zeros((2, netlist.rows), np.bool_)
        spare[inputs:] = ~live[inputs:] & self._single
        single[inputs:] = live[inputs:] & self._single
        reads = np.array(READS)[ops[netlist.param]]
        fed = spare[netlist.a] & ~reads[:, 0] | spare[netlist.b] & ~reads[:, 1]
        gates = rng.permutation(np.flatnonzero(single[inputs:] & fed))
        gates = gates[: max(1, MOST_SLOPES // (4 * self._hard.points))]
        steady = self._steady(live, channels, reads)
        rows = np.concatenate([np.flatnonzero(single), self._outer[steady[self._outer]]])
        values, slopes = self._trace(ops, rows, inputs + gates)
        return Detectors(
            netlist, ops, spare, rows.astype(np.int32), values, gates.astype(np.int32), slopes
        )

    def _steady(
        self,
        live: npt.NDArray[np.bool_],
        channels: npt.NDArray[np.bool_],
        reads: npt.NDArray[np.bool_],
    ) -> npt.NDArray[np.bool_]:
        """Return the rows, apart from single gates, that no change of spare gates reaches."""
        netlist, inputs = self._netlist, self._netlist.inputs
        steady = live.copy()
        steady[:inputs] = channels[np.arange(inputs) % netlist.channels]
        shared = np.flatnonzero(~self._single)
        a, b = netlist.a[shared], netlist.b[shared]
        ignores_a, ignores_b = ~reads[shared].T
        steady[inputs + shared] = True
        while True:
            # Dependence spreads by one layer per pass; there are few layers.
            found = (steady[a] | ignores_a) & (steady[b] | ignores_b)
            if np.array_equal(found, steady[inputs + shared]):
                return steady
            steady[inputs + shared] = found

    def _trace(
        self, ops: Ops, rows: npt.NDArray[np.int64], kept: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """Return values of `rows`, (rows, words), and slopes of `kept` rows, (kept, points)."""
        read = rows.astype(np.int32)
        self._hard.begin(ops, self._channels, read)
        values, slopes = self._hard.trace(
            self._starts, self._wrong, self._channels, read, kept.astype(np.int32)
        )
        return values.reshape(len(rows), -1), slopes.reshape(len(kept), self._hard.points)
