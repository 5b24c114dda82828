"""Judges candidates: circuits that differ from a base circuit in a single gate.

A search tries thousands of changes of one gate. The *base* is simulated once and all its values are
kept. A candidate is then evaluated from its changed gate on, in the order of the gates and step by
step, and only where a value differs from the base's. This is concurrent fault simulation (Ulrich
and Baker 1974, "Concurrent simulation of nearly identical digital networks"). If much differs, all
gates are evaluated, which is then faster. When a change is kept, the base follows it through the
gates that it reaches and takes over their values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.circuit.gates import Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.hard_simulator import HardSimulator, new_marks, prune, smallest, wires_of
from difflogic.engine.kernels import candidates as k
from difflogic.engine.kernels.candidate_base import (
    NOWHERE,
    Base,
    ReaderNetlist,
    Rolled,
    RolloutValues,
    find_slots,
    set_ops,
    tidy,
)
from difflogic.engine.kernels.candidate_changes import FOLLOWED, UNORDERED, Scratch
from difflogic.engine.kernels.hard import hard_rollout, read_values
from difflogic.engine.kernels.structures import WORDS, HardRun, HardScript
from difflogic.system.array_types import Array, Bits, Int32s, Words
from difflogic.system.arrays import aligned
from difflogic.system.work import may_cancel

MOST_BYTES = 2**29
"""Bytes for a base's values. Reading more from memory is slower than computing it again."""

SPARE_ROWS = 64
"""Spare rows: there is room for 1.5 times the needed rows, and this many more."""

TIDY_AFTER = 16
"""Changes that a base takes over before it drops the rows that no longer matter."""

UNREACHED = -1
"""A number of wrong bits that no candidate reaches."""


class Found(NamedTuple):
    """The first of some changes that leaves no wrong bit."""

    tried: int
    """Changes tried."""
    hit: int | None = None
    """Its index; None without one."""
    gates: int = 0
    """Active gates after it."""


class Candidates:
    """Judges changes of a circuit, whose values at every step of one packed batch are kept."""

    def __init__(self, simulator: HardSimulator, starts: Words, script: HardScript) -> None:
        """`starts` and `script` are packed by the simulator. The script says what counts."""
        netlist = simulator.netlist
        self.ops: Bits = np.empty(0, np.uint8)
        """The circuit's ops, shape (parameters,); empty before the first `load`."""
        self._wiring = wiring_of(netlist)
        self._simulator = simulator
        self._script = script
        self._words = starts.shape[1]
        self._steps = script.steps
        rows = netlist.rows
        channels = netlist.channels
        pad = simulator.cells.pad
        states = np.zeros(((script.steps + 1) * channels, simulator.shape[1]), np.uint64)
        states[:channels, pad : pad + self._words] = starts
        self._history = RolloutValues(np.empty((0, self._words), np.uint64), states)
        self._base = Base(
            np.empty(rows, np.uint8),
            np.empty(rows, np.int32),
            np.empty(rows, np.bool_),
            np.empty(channels, np.bool_),
            np.empty(rows, np.int32),
            np.empty(0, np.int32),
            np.zeros(1, np.int64),
        )
        self._marks = new_marks(netlist)
        self._scratch: Scratch | None = None
        self._kept = 0
        self._spare = 1
        self.most_active = 0
        """An upper bound of the active gates."""

    def load(self, ops: Bits) -> bool:
        """Become the circuit with `ops`, shape (parameters,); return whether its values fit."""
        self.ops = ops.copy()
        return self._simulate()

    def find_room(self) -> bool:
        """Simulate the circuit again with room for more values; return whether they fit."""
        self._spare *= 2
        return self._simulate()

    def _simulate(self) -> bool:
        counted = self._script.channels
        base = self._base
        needed = set_ops(self._wiring, base, self.ops, counted, self._marks)
        slots = min(len(base.op), self._spare * (needed + needed // 2 + SPARE_ROWS)) + 1
        row = self._history.values.itemsize * self._words * self._steps
        if slots * row > MOST_BYTES:
            return False
        if slots > len(base.free):
            # Memory costs nothing until it is written.
            self._base = base = base._replace(free=np.empty(slots, np.int32))
            values = np.empty((self._steps * slots, self._words), np.uint64)
            values[::slots] = 0  # the row NOWHERE
            self._history = self._history._replace(values=values)
            self._scratch = self._new_scratch(slots)
        find_slots(base)
        self._fill(self._history.values.reshape(self._steps, -1, self._words))
        self._reset_scratch()
        return True

    def _fill(self, values: Words) -> None:
        """Run the circuit; write the `values` of its slots, shape (steps, slots, words)."""
        simulator = self._simulator
        base = self._base
        found = prune(simulator.netlist, self.ops, self._script.channels.tolist())
        rows = np.flatnonzero(base.slot != NOWHERE)
        places = np.zeros(1 + len(rows), np.int64)
        places[base.slot[rows]] = found.values[rows]
        tile = aligned((simulator.netlist.inputs + len(found.origin), WORDS), np.uint64)
        states = self._history.states.reshape(self._steps + 1, *simulator.shape)
        run = HardRun(found.code, simulator.cells, states, tile)
        nothing = self._script._replace(at=self._script.at[:0])
        hard_rollout(run, nothing, 0, self._steps, np.empty((0, simulator.batch), np.int64))
        read_values(run, places, values)

    @property
    def _rolled(self) -> Rolled:
        cells = self._simulator.cells
        return Rolled(self._wiring, self._base, cells, self._script, self._history)

    def _new_scratch(self, slots: int) -> Scratch:
        rows = len(self._base.op)
        channels = len(self._base.channels)
        stride = self._history.states.shape[1]

        numbers = ("source", "slot", "order", "added", "always", "special")
        sizes = dict.fromkeys(numbers, rows) | {"stack": 3 * rows}
        sizes |= {"moved": 2 * rows, "changed": 2 * rows, "joined": channels, "differing": channels}
        return Scratch(
            **{name: np.zeros(size, np.int32) for name, size in sizes.items()},
            op=np.zeros(rows, np.uint8),
            live=np.zeros(rows, np.bool_),
            channels=np.zeros(channels, np.bool_),
            values=np.zeros((slots, self._words), np.uint64),
            flags=np.zeros(slots, np.uint8),
            records=np.zeros((rows, 4), np.int32),
            leaving=np.zeros((channels, 2), np.int32),
            states=np.zeros((2 * channels, stride), np.uint64),
            differs=np.zeros((2, channels), np.bool_),
            marks=self._marks,
            ordered=np.full(1, UNORDERED),
            sizes=np.zeros(11, np.int64),
        )

    def _reset_scratch(self) -> None:
        """Make the scratch agree with the base."""
        assert self._scratch is not None
        for name in FOLLOWED:
            getattr(self._scratch, name)[:] = getattr(self._base, name)
        self._scratch.ordered[:] = UNORDERED
        self._kept = 0
        # Gates that were live when the base was simulated or tidied, without pass-throughs.
        first = self._wiring.inputs
        base = self._base
        passing = (base.op[first:] == Op.A) | (base.op[first:] == Op.B)
        self.most_active = int(np.count_nonzero(base.live[first:] & ~passing))

    def judge(self, job: k.CandidateJob, decisions: k.Decisions) -> bool:
        """Judge candidates, and take over those that are kept; return whether values fit.

        The fields of the walk hold the place in the job, before and after. If values do not fit,
        the base is as after the last change that did.
        """
        fields = decisions.walk
        before = int(fields[k.KEPT])
        fields[k.GATES_BOUND], fields[k.HIT], fields[k.FITS] = self.most_active, k.NO_HIT, 1
        fields[k.MOST_KEPT] = before + max(1, TIDY_AFTER - self._kept)
        k.judge(self._rolled, self._scratch, job, decisions)
        after = int(fields[k.KEPT])
        if after > before:
            self.most_active = int(fields[k.GATES_BOUND])
            kept = job.kept[before:after]
            self.ops[job.parameters[kept]] = job.ops[kept]
            self._kept += after - before
            if self._kept >= TIDY_AFTER:
                self._tidy()
        return bool(fields[k.FITS])

    def find(self, parameters: Array, ops: Array) -> Found | None:
        """Return the first change that leaves no wrong bit; None if its values do not fit."""
        job = new_job(parameters.astype(np.int32), ops.astype(np.uint8), k.FINDS, stop=0)
        decisions = undecided(len(ops))
        fields = decisions.walk
        may_cancel()
        while not self.judge(job, decisions):
            if not self.find_room():
                return None
        tried = int(fields[k.TRIED])
        hit = int(fields[k.HIT])
        return Found(tried) if hit == k.NO_HIT else Found(tried, hit, int(job.results[hit, 1]))

    def change(self, parameters: Int32s, ops: Bits) -> bool:
        """Change each gate `parameters[i]` to `ops[i]`; return whether the values fit."""
        job = new_job(parameters, ops, k.TAKES)
        decisions = undecided(len(ops))
        fits = True
        while fits and decisions.walk[k.KEPT] < len(ops):
            fits = self.judge(job, decisions) or self.find_room()
        return fits

    def _tidy(self) -> None:
        """Drop the rows that no longer matter."""
        tidy(self._wiring, self._base, self._script.channels, self._marks)
        self._reset_scratch()


def undecided(end: int) -> k.Decisions:
    """Return decisions for a job of `end` candidates that keeps all, or finds one."""
    fields = np.zeros(k.WALK_FIELDS, np.int64)
    fields[k.END] = end
    return k.Decisions(fields, np.zeros(2), np.zeros(0))


def new_job(parameters: Int32s, ops: Bits, aim: int, stop: int = UNREACHED) -> k.CandidateJob:
    """Return a job to be done."""
    size = len(ops)
    results = np.zeros((size, 2), np.int64)
    kept = np.zeros(size, np.int64)
    return k.CandidateJob(parameters, ops, results, kept, stop, aim)


def wiring_of(netlist: Netlist) -> ReaderNetlist:
    """Return a netlist indexed by rows, with the readers of each row."""
    rows = netlist.rows
    first = netlist.inputs
    gates = np.arange(first, rows, dtype=np.int32)
    readers = np.stack([2 * gates, 2 * gates + 1], axis=1).ravel()
    own = np.arange(rows, dtype=np.int32)
    param = netlist.wires[2]
    wires = _table(np.stack([netlist.a, netlist.b], axis=1).ravel(), readers, rows)
    uses = _table(netlist.param, gates, netlist.parameters)
    a, b, outputs, inputs = wires_of(netlist)
    return ReaderNetlist(a, b, param, outputs, inputs, own, *wires, *uses)


def _table(keys: Array, values: Array, size: int) -> tuple[Int32s, Int32s]:
    """Return the first index of each key below `size`, and the values sorted by key."""
    start = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])
    return start.astype(np.int32), values[np.argsort(keys, kind="stable")].astype(np.int32)


def load_kernels() -> None:
    """Compile or load the kernels that judge, which are the same for all circuits and grids."""
    simulator, ops = smallest()
    nothing = np.zeros((1, 1, 1, 1), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(nothing)
    candidates = Candidates(simulator, starts, script)
    k.accept(undecided(0), 1, 0)
    if candidates.load(ops):
        candidates.change(np.zeros(TIDY_AFTER, np.int32), np.full(TIDY_AFTER, ops[0]))
