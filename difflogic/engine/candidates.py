"""Many circuits that differ from one in a single gate, judged by what the difference reaches.

A search tries thousands of changes of one gate. Simulating each circuit anew would mostly repeat
what is known: here the circuit as it is, the *base*, is simulated once and every value is kept.
A candidate then starts from its changed gate and goes on only where a value differs from the
base's, in the order of the gates, step after step. The field calls it event-driven fault
simulation (Ulrich and Baker 1974, "Concurrent simulation of nearly identical digital networks").

Candidates are independent of each other, so workers share them; each result depends on base and
candidate alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import FORMS, HardSimulator, Script, Words, live_parameters
from difflogic.engine.kernels.candidate_base import (
    Base,
    History,
    make_base,
    needed_rows,
    simulate_base,
)
from difflogic.engine.kernels.candidates import Scratch, judge_share
from difflogic.engine.workers import Workers
from difflogic.netlist import Netlist

Ops = npt.NDArray[np.uint8]


UNTOLD = np.iinfo(np.int64).max
"""Stands for a candidate that was passed over."""

FEWEST_SHARED = 32
"""Candidates that are worth waking the other workers, which takes as long as judging a few."""

MOST_BYTES = 2**29
"""For a base's values: past that, they are read from memory more slowly than computed anew."""


class Candidates:
    """Judges changes of single gates of a circuit, the base, on one packed batch.

    The memory is that of every value of the base at every step, MOST_BYTES at most.
    """

    def __init__(
        self, simulator: HardSimulator, starts: Words, script: Script, workers: Workers
    ) -> None:
        """`starts` and `script` are as the simulator packs them; the script says what counts."""
        self._simulator, self._script, self._workers = simulator, script, workers
        self._channels = tuple(script.packed.channels.tolist())
        self._words = starts.shape[1]
        self._states = np.zeros((script.steps + 1, *simulator.shape), np.uint64)
        pad = simulator.cells.pad
        self._states[0, :, pad : pad + self._words] = starts
        self._values = np.empty(0, np.uint64)
        self._scratch: list[Scratch] = []

    def differ_from(self, ops: Ops) -> bool:
        """Take the circuit with `ops` (parameters,) for the base; return whether it fits."""
        base, slots = _base(self._simulator.netlist, ops, self._channels)
        shape = (self._script.steps, slots, self._words)
        size = math.prod(shape)
        if self._values.itemsize * size > MOST_BYTES:
            return False
        if size > len(self._values):  # some more than now: fresh memory costs more than its use
            self._values = np.empty(size + size // 4, np.uint64)
        counts = (len(self._script.packed.at), len(self._channels))
        values = self._values[:size].reshape(shape)
        history = History(values, self._states, np.zeros(counts, np.int64))
        self._shared = (
            base, self._simulator.cells, FORMS, self._script.packed, self._script.steps, history,
        )  # fmt: skip
        simulate_base(*self._shared)
        self._scratch = [self._new_scratch(base) for _ in range(self._workers.count)]
        return True

    def _new_scratch(self, base: Base) -> Scratch:
        nodes, uses = len(base.slot), int(np.diff(base.use_start).max(initial=0))
        return Scratch(
            base.a.copy(), base.b.copy(), base.op.copy(), base.outputs.copy(),
            np.empty((nodes, self._words), np.uint64), np.zeros(nodes, np.int64),
            np.zeros(1, np.int64), np.zeros(nodes // 64 + 1, np.uint64),
            np.zeros((2, *self._states.shape[1:]), np.uint64),
            np.zeros((2, len(base.outputs)), np.bool_), base.live.copy(),
            base.live_channels.copy(), base.live_channels.copy(),
            np.empty(len(base.channels), np.int32), np.empty(nodes, np.int32),
            np.empty(len(base.wires), np.int32), np.empty(uses + 1, np.int32),
            np.empty(3 * nodes, np.int32),
        )  # fmt: skip

    def judge(
        self, parameters: Sequence[int], ops: Sequence[int], limit: int, stop: int = -1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return what becomes of the base with `ops[i]` for gate `parameters[i]`, for each i.

        These are the wrong bits, where a number above `limit` only says that there are more than
        that, and else the gates that the counted channels depend on. After the first with at most
        `stop` wrong bits nothing is told.
        """
        wrong = np.full(len(parameters), UNTOLD)
        gates = np.empty(len(parameters), np.int64)
        asked = (np.asarray(parameters, np.int32), np.asarray(ops, np.uint8), limit)
        count = self._workers.count if len(parameters) >= FEWEST_SHARED else 1
        hit = np.full(1, len(parameters), np.int64)
        shares = [
            (*self._shared, scratch, *asked, first, count, stop, hit, wrong, gates)
            for first, scratch in enumerate(self._scratch)
        ]
        if count == 1:
            judge_share(*shares[0])
        else:
            self._workers.run(judge_share, shares)
        hits = np.flatnonzero(wrong <= stop)
        told = hits[0] + 1 if len(hits) else len(wrong)
        return wrong[:told], gates[:told]


def _base(netlist: Netlist, ops: Ops, channels: Sequence[int]) -> tuple[Base, int]:
    """Return the base with `ops`, and how many rows of values it has."""
    wiring = (netlist.a, netlist.b, netlist.param, netlist.outputs, netlist.inputs, ops)
    counted = np.zeros(netlist.channels, np.bool_)
    counted[list(channels)] = True
    changeable = live_parameters(netlist, ops, channels)
    needed = np.zeros(netlist.rows, np.bool_)
    needed_rows(*wiring, changeable, counted.copy(), needed)
    return make_base(*wiring, netlist.parameters, needed, counted)


def warm_up(simulator: HardSimulator, ops: Ops) -> None:
    """Compile or load the kernels that judge; they are the same for any size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script, Workers(1))
    if candidates.differ_from(ops):
        candidates.judge([0], [0], 0)
