"""Detectors: spare gates of a hard circuit that recognise one point, and so correct it.

A point is a cell at a step. A detector is a conjunction of values that tell the point apart. A gate
with a wrong value at the point can read a detector through an input that its op ignores, if spare
gates, which do nothing yet, feed that input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from difflogic.circuit.evaluate import BitLogic
from difflogic.circuit.gates import READS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.hard_simulator import smallest
from difflogic.engine.kernels import detectors as k
from difflogic.engine.kernels.candidate_base import ABSENT
from difflogic.system.array_types import Bits, Flags, Float32s, Int32s, Int64s, Words

POINTS = 6
"""Points to examine per gate: those where another value does the most good."""

LAYERS = (3, 5, 7, 9)
"""Limits on a detector's layers of gates, tried in this order."""

NEARLY = 24
"""Detectors that also do harm: the least harmful ones are yielded last."""


@dataclass(frozen=True)
class Rectification:
    """Changes of several gates that are expected to leave fewer wrong cells."""

    harm: int
    """Points where the changes are expected to do harm."""
    ops: dict[int, int]
    """The new op of each parameter that changes."""

    def of(self, ops: Bits) -> Bits:
        """Return a circuit's ops (parameters,) with these changes."""
        changed = ops.copy()
        changed[list(self.ops)] = list(self.ops.values())
        return changed


class Traced(NamedTuple):
    """What a circuit computes at some points, and what it should have.

    Points are numbered step by step, and within a step as a simulator packs cells.
    """

    rows: Int32s
    """Rows that changes of spare gates do not reach."""
    values: Words
    """The values of `rows`, (len(rows), words)."""
    gates: Int32s
    """Live gates, whose rows are among `rows`."""
    slopes: Float32s
    """dL/d(value) of `gates`, (len(gates), points). L counts wrong cells."""


class Detectors:
    """The detectors that the spare gates of one circuit can form."""

    def __init__(self, netlist: Netlist, ops: Bits, spare: Flags, traced: Traced) -> None:
        """Prepare the search for a circuit, `ops` (parameters,).

        `spare` (rows,) says whether a row is a gate that does nothing and has logits of its own.
        """
        self._netlist = netlist
        self._ops = ops
        gates = traced.gates
        values = traced.values
        words = values.shape[1]
        place = np.full(netlist.rows, ABSENT, np.int32)
        place[traced.rows] = np.arange(len(traced.rows))
        self._gates = gates
        a, b, _ = netlist.wires
        self._signals = k.Signals(a, b, spare, place, values)
        self._sites = k.Sites(
            place[netlist.inputs + gates],
            np.zeros((len(gates), 2, words), np.uint64),
            np.zeros((len(gates), POINTS), np.int32),
            np.zeros((len(gates), POINTS), np.float32),
        )
        self._growth = k.Detector(
            np.empty(words, np.uint64),
            np.empty(netlist.rows, np.int32),
            np.zeros(1, np.int64),
            np.empty((netlist.rows, 2), np.int8),
            np.zeros(netlist.rows, np.bool_),
            np.empty((max(LAYERS) + 1, 3), np.int32),
        )
        k.survey(values, traced.slopes, self._sites)

    def __iter__(self) -> Iterator[Rectification]:
        """Yield rectifications, those with detectors of few layers first.

        Rectifications that also do harm come last. Of several with the same effect on what is
        computed, only one is yielded.
        """
        netlist = self._netlist
        sites = self._sites
        wires = np.stack([netlist.a, netlist.b])[:, self._gates]
        reads = np.array(READS)[self._ops[netlist.param[self._gates]]].T
        fed = self._signals.spare[wires] & ~reads
        found = np.argwhere(fed.T[:, :, None] & (sites.change < 0)[:, None])
        gate, side, number = found.T
        roots = np.stack([gate, number, wires[side, gate]], axis=1).astype(np.int32)
        effects = self._effects(gate, number)
        skipped = np.zeros(len(found), np.bool_)
        harms = np.full(len(found), -1)
        attempts = k.DetectorSites(roots, skipped, harms)
        for layers in LAYERS:
            first = 0
            while True:
                first = k.detect(self._signals, sites, self._growth, attempts, layers, first)
                if first == len(found):
                    break
                yield self._rectification(0, *found[first].tolist())
                skipped |= effects == effects[first]
        harmful = np.flatnonzero(~skipped & (harms > 0))
        for place in harmful[np.argsort(harms[harmful], kind="stable")][:NEARLY].tolist():
            alone = attempts._replace(skipped=~np.isin(np.arange(len(found)), place))
            k.detect(self._signals, sites, self._growth, alone, LAYERS[-1], place)
            yield self._rectification(int(harms[place]), *found[place].tolist())

    def _effects(self, gates: Int64s, numbers: Int64s) -> Int64s:
        """Return a number for each site: equal if one gate only passes on the other's value."""
        sites = self._sites
        known = dict[tuple[bytes, bytes], int]()
        values = self._signals.values[sites.place]
        same = [
            known.setdefault((value.tobytes(), harm.tobytes()), len(known))
            for value, harm in zip(values, sites.harm, strict=True)
        ]
        found: Int64s
        found = np.array(same, np.int64)[gates] * (64 * values.shape[1])
        found += sites.points[gates, numbers]
        return found

    def _rectification(self, harm: int, site: int, side: int, number: int) -> Rectification:
        """Return the changes that form the detector found last, and make a gate read it."""
        netlist = self._netlist
        growth = self._growth
        ops = {}
        for row in growth.rows[: growth.count[0]].tolist():
            first, second = growth.evidence[row].tolist()
            ops[int(netlist.param[row - netlist.inputs])] = CONJUNCTIONS[first, second]
        point = int(self._sites.points[site, number])
        values = self._signals.values[self._sites.place[site]]
        falls = bool(int(values[point // 64]) >> point % 64 & 1)
        param = int(netlist.param[self._gates[site]])
        before = int(self._ops[param])

        def detecting(*inputs: int) -> int:
            value: int = BitLogic(1).gate(before, *inputs)
            return value & ~inputs[side] if falls else value | inputs[side]

        ops[param] = op_of(detecting)
        return Rectification(harm, ops)


def op_of(function: Callable[[int, int], int]) -> int:
    """Return the op that computes a function of two bits."""
    return sum(function(a, b) << (3 - (2 * a + b)) for a in (0, 1) for b in (0, 1))


def _conjunction(first: int, second: int) -> int:
    return op_of(lambda a, b: int(first in (k.NOTHING, a) and second in (k.NOTHING, b)))


CONJUNCTIONS = {
    demanded: _conjunction(*demanded) for demanded in product((k.NOTHING, k.LOW, k.HIGH), repeat=2)
}
"""The op that is 1 if each input has the demanded value, or none is demanded."""


def load_kernels() -> None:
    """Compile or load the kernels, which are the same for every size."""
    simulator, ops = smallest()
    netlist = simulator.netlist
    values = np.zeros((1, 1), np.uint64)
    nothing = np.zeros(netlist.rows, np.bool_)
    rows = np.array([netlist.inputs], np.int32)
    gates = np.zeros(1, np.int32)
    traced = Traced(rows, values, gates, np.zeros((1, 64), np.float32))
    list(Detectors(netlist, ops, nothing, traced))
