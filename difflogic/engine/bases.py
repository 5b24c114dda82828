"""A circuit with all its values, from which candidates differ in a gate: the base.

It is simulated once. A change that is kept is followed through the same gates once more and leaves
its values behind: the base takes it over, and is not simulated anew. Each worker has one of its
own, so that nobody waits for another: following a change costs less than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import Op
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard import FORMS, HardSimulator, Script, Words, by_rows
from difflogic.engine.kernels import candidates as k
from difflogic.engine.kernels.candidate_base import (
    ABSENT,
    Base,
    History,
    Wiring,
    find_slots,
    settle,
    simulate_base,
    tidy,
)
from difflogic.engine.kernels.candidate_changes import FOLLOWED, UNORDERED, Scratch
from difflogic.engine.kernels.structures import WORDS

Ops = npt.NDArray[np.uint8]

SPARE = 64
"""Rows that there is room for besides those whose values are kept, and half as many."""

TIDY = 16
"""Changes that a base takes over before it is looked through for what no longer matters."""

NEVER = -1
"""Wrong bits that there never are."""

NO_CHANCES, NO_DRAWS = np.zeros(2), np.zeros(0)
"""What a kernel is given that does not decide."""


class SimulatedBase:
    """The base of one worker, on one packed batch."""

    def __init__(
        self, simulator: HardSimulator, starts: Words, script: Script, wiring: Wiring, most: int
    ) -> None:
        """`starts` and `script` are as the simulator packs them. `most` bounds the values' bytes.

        The simulator and the wiring may be shared: nothing is written to them.
        """
        netlist = simulator.netlist
        self.ops: Ops = np.empty(0, np.uint8)
        """Of the circuit that the base is; none before it `differs_from` any."""
        self._wiring, self._most = wiring, most
        self._simulator, self._script = simulator, script
        self._words, self._steps = starts.shape[1], script.steps
        rows, channels = netlist.rows, netlist.channels
        pad = simulator.cells.pad
        states = np.zeros(((script.steps + 1) * channels, simulator.shape[1]), np.uint64)
        states[:channels, pad : pad + self._words] = starts
        block = find_block(simulator.grid.cells, self._words)
        self._history = History(np.empty((0, self._words), np.uint64), states, block)
        every = np.full((1, self._words), ~np.uint64(0))
        self._masks = script.packed._replace(
            fires=script.packed.fires if len(script.packed.fires) else every,
            keeps=script.packed.keeps if len(script.packed.keeps) else every,
        )
        self._base = Base(
            np.empty(rows, np.uint8),
            np.empty(rows, np.int32),
            np.empty(rows, np.bool_),
            np.empty(channels, np.bool_),
            np.empty(rows, np.int32),
            np.empty(0, np.int32),
            np.zeros(1, np.int64),
        )
        # Room to work in.
        self._stack, self._order = np.empty(3 * rows, np.int32), np.empty(rows, np.int32)
        self._live, self._alive = np.empty(rows, np.bool_), np.empty(channels, np.bool_)
        self._scratch: Scratch | None = None
        self._kept, self._spare = 0, 1
        self.many_gates = 0
        """No fewer gates than matter."""

    @property
    def room(self) -> int:
        """Rows whose values can be kept."""
        return len(self._base.free)

    def differ_from(self, ops: Ops) -> bool:
        """Become the circuit with `ops` (parameters,); return whether its values fit."""
        self.ops = ops.copy()
        return self._simulate()

    def find_room(self) -> bool:
        """Simulate the circuit anew, with room for more values; return whether they fit."""
        self._spare *= 2
        return self._simulate()

    def _simulate(self) -> bool:
        counted, base = self._script.packed.channels, self._base
        needed = settle(self._wiring, base, self.ops, counted, self._stack)
        slots = min(len(base.op), self._spare * (needed + needed // 2 + SPARE)) + 1
        row = self._history.values.itemsize * self._words * self._steps
        if slots * row > self._most:
            return False
        if slots > len(base.free):
            # Memory that nothing is written to costs nothing.
            self._base = base = base._replace(free=np.empty(slots, np.int32))
            values = np.empty((self._steps * slots, self._words), np.uint64)
            values[::slots] = 0  # those of NOWHERE
            self._history = self._history._replace(values=values)
            self._scratch = self._new_scratch(slots)
        find_slots(base)
        simulate_base(*self._circuit, self._order)
        self._begin_anew()
        return True

    @property
    def _circuit(self) -> tuple[Any, ...]:
        """What all kernels are called with."""
        return (
            self._wiring,
            self._base,
            self._simulator.cells,
            FORMS,
            self._masks,
            self._steps,
            self._history,
        )

    def _new_scratch(self, slots: int) -> Scratch:
        rows, channels = len(self._base.op), len(self._base.channels)
        stride = self._history.states.shape[1]

        def some(kind: npt.DTypeLike, *size: int) -> npt.NDArray[Any]:
            return np.zeros(size, kind)

        return Scratch(
            some(np.uint8, rows),
            some(np.int32, rows),
            some(np.int32, rows),
            some(np.bool_, rows),
            some(np.bool_, channels),
            some(np.uint64, slots, self._words),
            some(np.uint8, slots),
            some(np.int32, rows, 4),
            some(np.int32, channels, 2),
            some(np.uint64, 2 * channels, stride),
            some(np.bool_, 2, channels),
            some(np.int64, rows),
            some(np.int64, channels),
            some(np.int64, 1),
            some(np.int32, rows),
            some(np.int32, rows),
            np.full(2, UNORDERED),
            some(np.int32, rows),
            some(np.int32, 3 * rows),
            some(np.int32, 2 * rows),
            some(np.int32, rows),
            some(np.int32, channels),
            some(np.int32, rows),
            some(np.int32, channels),
            some(np.int32, 2 * rows),
            some(np.int32, rows),
            some(np.int32, 3 * rows),
            some(np.int64, 12),
        )

    def _begin_anew(self) -> None:
        """Let the scratch follow what the base has become."""
        assert self._scratch is not None
        for name in FOLLOWED:
            getattr(self._scratch, name)[:] = getattr(self._base, name)
        self._scratch.ordered[:] = UNORDERED
        self._kept = 0
        # Live ones, by the base or longer; pass-throughs are none.
        first, base = self._wiring.inputs, self._base
        passing = (base.op[first:] == Op.A) | (base.op[first:] == Op.B)
        self.many_gates = int(np.count_nonzero(base.live[first:] & ~passing))

    @property
    def untidied(self) -> int:
        """Changes that it may take over until it is to be tidied."""
        return max(1, TIDY - self._kept)

    def judge(
        self,
        job: k.Job,
        worker: int,
        fields: npt.NDArray[np.int64],
        chances: npt.NDArray[np.float64] = NO_CHANCES,
        draws: npt.NDArray[np.float64] = NO_DRAWS,
    ) -> bool:
        """Do a worker's part of a job, and take over what is kept; return whether all values fit.

        `fields` say where the worker is, and then, where it has come to. If values did not fit the
        base is as after the last change that did.
        """
        before = int(fields[k.VERSION])
        fields[k.MANY_GATES], fields[k.HIT], fields[k.FITS] = self.many_gates, k.NO_HIT, 1
        k.judge(*self._circuit, self._scratch, job, worker, fields, chances, draws)
        after = int(fields[k.VERSION])
        if after > before:
            self.many_gates = int(fields[k.MANY_GATES])
            kept = job.versions[before + 1 : after + 1, k.START] - 1
            self.ops[job.parameters[kept]] = job.ops[kept]
            self._kept += after - before
            if self._kept >= TIDY:
                self._tidy()
        return bool(fields[k.FITS])

    def take_over(self, parameters: npt.NDArray[np.int32], ops: Ops) -> bool:
        """Become the circuit with `ops[i]` for `parameters[i]`, for each i; return if that fits."""
        job, fields = all_kept(parameters, ops), np.zeros(k.WALK_FIELDS, np.int64)
        fits = True
        while fits and fields[k.VERSION] < len(ops):
            fields[k.MOST_KEPT] = fields[k.VERSION] + self.untidied
            # As one who is told: nothing is decided.
            fits = self.judge(job, 1, fields) or self.find_room()
        return fits

    def _tidy(self) -> None:
        """Look the base through for what no longer matters."""
        counted = self._script.packed.channels
        tidy(self._wiring, self._base, counted, self._live, self._alive, self._stack)
        self._begin_anew()


def new_job(
    parameters: npt.NDArray[np.int32],
    ops: Ops,
    limit: int,
    workers: int,
    *,
    keeps: bool = False,
    stop: int = NEVER,
    sizes: Sequence[int] = (),
) -> k.Job:
    """Return a job of which nothing is done. `sizes` are those of its batches; else it is one."""
    size = len(ops)
    versions = np.zeros((size + 1, 2), np.int64)
    versions[0] = 0, limit
    ends = np.cumsum(sizes or (size,)).repeat(sizes or (size,)).astype(np.int32)
    return k.Job(
        parameters,
        ops,
        np.zeros(k.TICKETS + size + 1, np.int64),
        versions,
        np.zeros(workers * size, np.int64),
        np.zeros((workers * size, 2), np.int64),
        ends,
        np.arange(size + 1),
        workers,
        stop,
        keeps,
    )


def all_kept(parameters: npt.NDArray[np.int32], ops: Ops) -> k.Job:
    """Return a job that is over: all of its candidates are kept."""
    job = new_job(parameters, ops, 0, 1, keeps=True)
    job.versions[:, k.START] = np.arange(len(ops) + 1)
    job.control[k.NEWEST], job.control[k.OVER] = len(ops), 1
    return job


def find_block(cells: int, words: int) -> int:
    """Return the fewest words of a batch that whole samples of so many cells fill, as vectors do.

    All words where blocks of these do not fill the batch.
    """
    block = math.lcm(cells, 64 * WORDS) // 64
    return block if words % block == 0 else words


def wiring_of(netlist: Netlist) -> Wiring:
    """Return a netlist by its rows, with the gates that read each."""
    rows, first = netlist.rows, netlist.inputs
    gates = np.arange(first, rows, dtype=np.int32)
    a, b = by_rows(netlist, netlist.a), by_rows(netlist, netlist.b)
    param = by_rows(netlist, netlist.param, none=ABSENT)
    readers = np.stack([2 * gates, 2 * gates + 1], axis=1).ravel()
    wires = _table(np.stack([netlist.a, netlist.b], axis=1).ravel(), readers, rows)
    uses = _table(netlist.param, gates, netlist.parameters)
    return Wiring(a, b, param, netlist.outputs.astype(np.int32), first, *wires, *uses)


def _table(
    keys: npt.NDArray[Any], values: npt.NDArray[Any], size: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return where the values of each key from 0 to `size` start, and the values, in order."""
    start = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])
    return start.astype(np.int32), values[np.argsort(keys, kind="stable")].astype(np.int32)
