"""Rewiring: from a proved circuit to a much smaller one, whose gates read other rows.

Gates change one at a time, and may read any earlier row. A change is kept if no more gates are
active and the circuit stays within its *limits*: on all cases that count, the next values lie in
the sets that are listed. Most of these changes improve nothing; the drift among equally good
circuits leads to smaller ones (neutral drift: Miller and Smith 2006). What is not listed is free.

Several drifts run side by side. After each round all go on from the smallest circuit, so that the
result does not depend on the number of workers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import OPS, PASS_THROUGH, fixed_logits
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.circuit.hard_netlist import netlist_of, unchanging
from difflogic.circuit.layer import Layer, levels_of, staged
from difflogic.circuit.netlist import WiredLayers
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.circuit.wiring import Wiring
from difflogic.config.problem import Problem
from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.engine.kernels import rewiring as k
from difflogic.engine.kernels.structures import WORDS
from difflogic.engine.workers import Workers
from difflogic.evaluation.trial import Ops
from difflogic.search.finisher import AnyFinisher, Finished, SearchContext, must_be_tough
from difflogic.search.polish import CircuitCost, Polished
from difflogic.search.walk import OnProgress, SearchProgress, walk
from difflogic.system.array_types import Array, Int64s, Words
from difflogic.system.arrays import aligned
from difflogic.system.streams import Purpose, stream
from difflogic.system.work import ignore

if TYPE_CHECKING:
    from difflogic.proof.convergence.limits import Limits

DRIFTS = 2
"""Drifts side by side."""

CHANGES = 2**13
"""Changes that each tries in a round."""


class Rewirer(AnyFinisher):
    """Finishes tough circuits: a smaller one takes the place of one that is proved."""

    def __init__(self, context: SearchContext) -> None:
        self._context = context
        self._start = context.start
        self._judge = context.judge
        self._settings = context.problem.finishing
        self._toughness = context.toughness(context.start.netlist)
        self._last: tuple[Ops, SoftCircuit | None] | None = None

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        """It fits what must be tough, and may be polished."""
        return must_be_tough(problem) and bool(problem.finishing.polish)

    @classmethod
    def of(cls, context: SearchContext) -> Rewirer:
        return cls(context)

    def finish(
        self, logits: Array, rng: np.random.Generator, on_progress: OnProgress = ignore
    ) -> Finished:
        """Return whether the circuit of `logits` (16, parameters) is proved and tough once rewired.

        Much less is asked of the circuit itself, which takes several times as long to prove.
        """
        ops = logits.argmax(axis=0).astype(np.uint8)
        wrong = int(self._toughness.lessons(ops).sum())
        on_progress(SearchProgress(0, 1, wrong))
        exact = self._smaller(ops) is not None
        return Finished(ops, exact, wrong, wrong, 0 if exact else wrong, 0)

    def polish(self, found: Finished, rng: np.random.Generator, hasten: bool = True) -> Finished:
        """Return what was found, with the costs of its circuit and of the smaller one."""
        circuit = SoftCircuit(self._start.layers, np.eye(OPS, dtype=np.float32)[found.ops])
        before, after = (self._cost(each) for each in (circuit, self.complete(circuit)))
        return replace(found, polished=Polished(before, after, self._settings.polish))

    def complete(self, circuit: SoftCircuit) -> SoftCircuit:
        """Return the rewired circuit in place of `circuit`."""
        found = self._smaller(circuit.ops)
        assert found is not None, "it was verified"
        return found

    def _smaller(self, ops: Ops) -> SoftCircuit | None:
        if self._last is None or not np.array_equal(self._last[0], ops):
            self._last = ops.copy(), self._rewired(ops)
        return self._last[1]

    def _rewired(self, ops: Ops) -> SoftCircuit | None:
        if self._judge(self._start.netlist).is_late(ops):
            return None
        rng = stream(self._context.problem.training.seed, Purpose.POLISH)
        asked = self._toughness.limits(ops)
        if asked is None:
            return None
        with Workers(self._context.workers) as workers:
            made = rebuilt(self._start, rewire(*asked, workers, rng, self._settings.polish))
            kept = _share(workers, [partial(self._is_proved, made), partial(self._is_tough, made)])
        return made if all(kept) else None

    def _is_proved(self, made: SoftCircuit) -> bool:
        if self._judge(made.netlist).is_late(made.ops):
            return False
        kept = self._context.certify(made).confinement
        return kept is not None and kept.in_any_order

    def _is_tough(self, made: SoftCircuit) -> bool:
        return self._context.toughness(made.netlist)(made.ops) <= self._settings.tough

    def _cost(self, circuit: SoftCircuit) -> CircuitCost:
        gates = active_gates(circuit.netlist, circuit.ops, self._context.problem.task.loss_channels)
        return CircuitCost(len(gates), self._judge(circuit.netlist).certified_step(circuit.ops))


def rewire(
    circuit: Circuit, limits: Limits, workers: Workers, rng: np.random.Generator, budget: int
) -> Circuit:
    """Return a smaller circuit that keeps the limits which `circuit` keeps.

    Tries about `budget` changes; enter the `workers` before.
    """
    nets = [_net_of(circuit, *limits.planes) for _ in range(DRIFTS)]
    for net in nets:
        k.load(net)

    def propose(left: int) -> Int64s:
        return rng.integers(0, 2**31, (DRIFTS, CHANGES, k.DRAWS))

    def accept(draws: Int64s) -> int:
        """Let each net keep what does no harm; then all go on from the smallest."""
        jobs = [partial(k.rewire, *each) for each in zip(nets, draws, strict=True)]
        _share(workers, jobs)
        best = min(nets, key=lambda net: int(net.gates[0]))
        for net in nets:
            for mine, theirs in zip(net, best, strict=True):
                mine[...] = theirs
        return DRIFTS * CHANGES

    walk(propose, accept, budget)
    net = nets[0]
    gates = int(net.gates[0])
    op = net.op[:gates].astype(np.uint8)
    a = net.a[:gates]
    b = net.b[:gates]
    a, b, outputs = (part.astype(np.int32) for part in (a, b, net.outputs))
    return Circuit(op, a, b, outputs, circuit.labels)


def _share(workers: Workers, jobs: list[Any]) -> list[Any]:
    """Let workers call all jobs, this thread the first one; return the results in any order."""
    found: list[Any] = []

    def call(some: list[Any]) -> None:
        found.extend([job() for job in some])

    workers.run(call, [(jobs[number :: workers.count],) for number in range(workers.count)])
    return found


def _net_of(circuit: Circuit, cases: Words, refused: Words) -> k.RewiredNet:
    rows = circuit.rows
    gates = circuit.gates
    words = cases.shape[2]
    more = -words % WORDS
    planes = aligned((2, rows, 2, words + more), np.uint64)
    planes[:, : circuit.inputs, :, :words] = cases
    return k.RewiredNet(
        gates=np.array([gates]),
        op=circuit.op.astype(np.int64),
        a=circuit.a.astype(np.uint32),
        b=circuit.b.astype(np.uint32),
        outputs=circuit.outputs.astype(np.int64),
        planes=planes,
        refused=np.pad(refused, ((0, 0), (0, 0), (0, more))),
        differs=np.zeros(rows, np.int64),
        live=np.zeros(rows, np.bool_),
        links=np.zeros(rows, np.int64),
        readers=np.zeros((3, gates), np.int64),
        waits=np.zeros(gates, np.int64),
        ready=np.zeros(gates, np.int64),
        moved=np.zeros((3, gates), np.int64),
    )


def rebuilt(before: SoftCircuit, circuit: Circuit) -> SoftCircuit:
    """Return a hard circuit in layers, in place of another. Its kernel passes on all neighbours."""
    sizes = before.layers.architecture
    channels = sizes.channels
    netlist, ops = netlist_of(circuit, channels)
    op = ops[netlist.param]
    a = netlist.a
    b = netlist.b
    depth = max(1, int(levels_of(netlist.inputs, a, b)[netlist.outputs].max()))
    found, last = staged(netlist.inputs, Layer(op, a, b), netlist.outputs, depth)
    found.append(Layer(np.full(channels, PASS_THROUGH), last, last))
    around = [place for place in range(NEIGHBORHOOD) if place != CENTER]
    # The update circuit reads the centre's channels, then each channel's neighbours.
    number = np.arange(channels)
    seen = np.empty((NEIGHBORHOOD, channels), np.int64)
    seen[CENTER], seen[around] = number, channels + len(around) * number + np.c_[range(len(around))]
    update = []
    read = seen.ravel()
    inputs = len(read)
    for stage in found:
        wires = (read[side].astype(np.int32) for side in (stage.a, stage.b))
        update.append(Wiring(inputs, *wires))
        inputs = len(stage.op)
        read = np.arange(inputs)
    looks = Wiring(NEIGHBORHOOD, *np.array([around, [CENTER] * len(around)], np.int32))
    sizes = replace(
        sizes,
        kernels=1,
        perception=(len(around),),
        update=tuple(len(stage.op) for stage in found),
        perception_first="moore",
        distinct_wiring=False,
        all_directions=False,
        carry=0.0,
    )
    layers = WiredLayers(sizes, ((looks,),), tuple(update))
    chosen = np.concatenate([np.full(len(around), PASS_THROUGH), *(stage.op for stage in found)])
    return SoftCircuit(layers, fixed_logits(chosen, before.logits.dtype))


def load_kernels() -> None:
    """Compile or load the kernels, which are the same for all circuits and limits."""
    circuit = unchanging()
    cases = np.zeros((circuit.inputs, 2, 1), np.uint64)
    net = _net_of(circuit, cases, cases[: circuit.channels])
    k.load(net)
    k.rewire(net, np.zeros((1, k.DRAWS), np.int64))
