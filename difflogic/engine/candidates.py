"""Many circuits that differ from one in a single gate, judged by what the difference reaches.

A search tries thousands of changes of one gate. Simulating each circuit anew would mostly repeat
what is known: here the circuit as it is, the *base*, is simulated once and every value is kept.
A candidate then starts from its changed gate and goes on only where a value differs from the
base's, in the order of the gates, step after step. The field calls it concurrent fault simulation
(Ulrich and Baker 1974, "Concurrent simulation of nearly identical digital networks"). Where much
differs all gates are evaluated, which then is sooner. A change that is kept goes the same way once
more, and leaves its values behind: the base takes it over, and is not simulated anew.

Candidates are independent of each other, so workers share them; each result depends on base and
candidate alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import FORMS, HardSimulator, Script, Words
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
from difflogic.engine.kernels.changes import FOLLOWED, NO_ROOM, UNORDERED, Scratch
from difflogic.engine.kernels.hard_structures import WORDS
from difflogic.engine.workers import Workers
from difflogic.gates import Op
from difflogic.netlist import Netlist

Ops = npt.NDArray[np.uint8]


UNTOLD = np.iinfo(np.int64).max
"""Stands for a candidate that was passed over."""

FEWEST_SHARED = 32
"""Candidates that are worth waking the other workers, which takes as long as judging a few."""

MOST_BYTES = 2**29
"""For a base's values: past that, they are read from memory more slowly than computed anew."""

SPARE = 64
"""Rows that there is room for besides those whose values are kept, and half as many."""

TIDY = 16
"""Changes that a base takes over before it is looked through for what no longer matters."""


NO_WALK = (np.zeros(k.WALK_FIELDS, np.int64), np.zeros(2), np.zeros(0))
"""What a kernel is given that walks nowhere."""


@dataclass
class Walk:
    """A walk through changes that are tried one after the other, and what ends it.

    A change that leaves fewer bits wrong is kept. One that leaves as many is, if no more than
    `most_gates` matter then, where the next of `draws` in [0, 1) is below `sideways`.
    """

    wrong: int
    """Bits that are wrong in the circuit as it is."""
    improvements: int
    """Those that are left until it ends."""
    most_tried: int
    most_gates: float
    sideways: float
    draws: npt.NDArray[np.float64]
    """As many as there are changes."""
    tried: int = 0
    place: int = 0
    """The next change."""
    drawn: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether there is something wrong, and improvements and tries are left."""
        return self.wrong > 0 and self.improvements > 0 and self.tried < self.most_tried

    @property
    def chances(self) -> npt.NDArray[np.float64]:
        """What a kernel decides by."""
        return np.array([self.most_gates, self.sideways])

    def decide(self, wrong: int, gates: int) -> bool:
        """Try a change with so many wrong bits and active gates; return whether it is kept."""
        self.tried += 1
        if wrong > self.wrong:
            return False
        if wrong < self.wrong:
            self.wrong, self.improvements = wrong, self.improvements - 1
            return True
        if gates > self.most_gates:
            return False
        self.drawn += 1
        return bool(self.draws[self.drawn - 1] < self.sideways)

    def fields(self, most_kept: int, many_gates: int) -> npt.NDArray[np.int64]:
        """Return what a kernel goes on with, from its own first change on."""
        fields = (
            0, self.tried, self.most_tried, self.improvements, self.wrong, self.drawn, 0, most_kept,
            many_gates,
        )  # fmt: skip
        return np.array(fields, np.int64)

    def take(self, fields: npt.NDArray[np.int64]) -> int:
        """Take what a kernel made of them; return how many changes it tried."""
        done, self.tried, _, self.improvements, self.wrong, self.drawn, *_ = fields.tolist()
        self.place += done
        return int(done)


class Candidates:
    """Judges changes of single gates of a circuit, the base, on one packed batch.

    The memory is that of every value of the base at every step, MOST_BYTES at most.
    """

    def __init__(
        self, simulator: HardSimulator, starts: Words, script: Script, workers: Workers
    ) -> None:
        """`starts` and `script` are as the simulator packs them; the script says what counts."""
        netlist = simulator.netlist
        self._wiring = wiring_of(netlist)
        self._simulator, self._script, self._workers = simulator, script, workers
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
            np.empty(rows, np.uint8), np.empty(rows, np.int32), np.empty(rows, np.bool_),
            np.empty(channels, np.bool_), np.empty(rows, np.int32), np.empty(0, np.int32),
            np.zeros(1, np.int64),
        )  # fmt: skip
        # Room to work in.
        self._stack, self._order = np.empty(3 * rows, np.int32), np.empty(rows, np.int32)
        self._live, self._alive = np.empty(rows, np.bool_), np.empty(channels, np.bool_)
        self._scratch: list[Scratch] = []
        self._ops = np.empty(0, np.uint8)
        self._kept, self._spare = 0, 1
        self._live_gates: int | None = None
        self._followed = 0
        """Workers, from the first on, whose circuit is the base."""

    @property
    def room(self) -> int:
        """Rows whose values can be kept."""
        return len(self._base.free)

    @property
    def _circuit(self) -> tuple[Any, ...]:
        """What all kernels are called with."""
        return (
            self._wiring, self._base, self._simulator.cells, FORMS, self._masks,
            self._steps, self._history,
        )  # fmt: skip

    def differ_from(self, ops: Ops) -> bool:
        """Take the circuit with `ops` (parameters,) for the base; return whether it fits."""
        self._ops = ops.copy()
        return self._simulate()

    def _find_room(self) -> bool:
        """Simulate the base anew, with room for more values; return whether that fits."""
        self._spare *= 2
        return self._simulate()

    def _simulate(self) -> bool:
        counted, base = self._script.packed.channels, self._base
        needed = settle(self._wiring, base, self._ops, counted, self._stack)
        slots = min(len(base.op), self._spare * (needed + needed // 2 + SPARE)) + 1
        row = self._history.values.itemsize * self._words * self._steps
        if slots * row > MOST_BYTES:
            return False
        if slots > len(base.free):
            # Memory that nothing is written to costs nothing.
            self._base = base = base._replace(free=np.empty(slots, np.int32))
            values = np.empty((self._steps * slots, self._words), np.uint64)
            values[::slots] = 0  # those of NOWHERE
            self._history = self._history._replace(values=values)
            self._scratch = [self._new_scratch(slots) for _ in range(self._workers.count)]
        find_slots(base)
        simulate_base(*self._circuit, self._order)
        self._kept = self._followed = 0
        self._live_gates = None
        return True

    def _new_scratch(self, slots: int) -> Scratch:
        rows, channels = len(self._base.op), len(self._base.channels)
        stride = self._history.states.shape[1]

        def some(kind: npt.DTypeLike, *size: int) -> npt.NDArray[Any]:
            return np.zeros(size, kind)

        return Scratch(
            some(np.uint8, rows), some(np.int32, rows), some(np.int32, rows),
            some(np.bool_, rows), some(np.bool_, channels),
            some(np.uint64, slots, self._words), some(np.uint8, slots), some(np.int32, rows, 4),
            some(np.int32, channels, 2), some(np.uint64, 2 * channels, stride),
            some(np.bool_, 2, channels), some(np.int64, rows), some(np.int64, channels),
            some(np.int64, 1), some(np.int32, rows), some(np.int32, rows),
            np.full(2, UNORDERED), some(np.int32, rows),
            some(np.int32, 3 * rows), some(np.int32, 2 * rows), some(np.int32, rows),
            some(np.int32, channels), some(np.int32, rows), some(np.int32, channels),
            some(np.int32, 2 * rows), some(np.int32, rows), some(np.int32, 3 * rows),
            some(np.int64, 12),
        )  # fmt: skip

    def _follow_base(self, workers: int) -> None:
        """Let that many workers, from the first on, follow what the base has become."""
        for scratch in self._scratch[self._followed : workers]:
            for name in FOLLOWED:
                getattr(scratch, name)[:] = getattr(self._base, name)
            scratch.ordered[:] = UNORDERED
        self._followed = max(self._followed, workers)

    def take_over(self, parameter: int, op: int) -> bool:
        """Make the base the circuit with `op` for a parameter; return whether that fits."""
        self._ops[parameter] = op
        self._follow_base(1)
        asked = (np.array([parameter], np.int32), np.array([op], np.uint8), UNTOLD, k.KEEP)
        wrong, gates = np.empty((2, 1), np.int64)
        self._judge_share(self._scratch[0], *asked, 0, 1, -1, np.ones(1, np.int64), wrong, gates)
        if wrong[0] == NO_ROOM:
            return self._find_room()
        self._live_gates = None
        self._was_changed(1)
        return True

    def _was_changed(self, changes: int) -> None:
        """Look the base through now and then for what no longer matters."""
        self._kept += changes
        self._followed = 1
        if self._kept >= TIDY:
            counted = self._script.packed.channels
            tidy(self._wiring, self._base, counted, self._live, self._alive, self._stack)
            self._kept = self._followed = 0
            self._live_gates = None

    def _count_live_gates(self) -> int:
        """Return how many gates are live, by the base or longer; pass-throughs are none."""
        if self._live_gates is None:
            first, base = self._wiring.inputs, self._base
            passing = (base.op[first:] == Op.A) | (base.op[first:] == Op.B)
            self._live_gates = int(np.count_nonzero(base.live[first:] & ~passing))
        return self._live_gates

    def walk(
        self, parameters: npt.NDArray[np.int32], ops: Ops, walk: Walk
    ) -> tuple[npt.NDArray[np.int64], bool]:
        """Go on with a walk through some changes; return the places of those that are kept.

        The base takes these over. The walk tells how many were tried: perhaps not all, though it
        goes on. Returns also whether the values of the next one fit.
        """
        self._follow_base(1)
        kept, gates = np.zeros((2, len(ops)), np.int64)
        fields = walk.fields(max(1, TIDY - self._kept), self._count_live_gates())
        self._judge_share(
            self._scratch[0], parameters, ops, UNTOLD, k.WALK, 0, 1, -1,
            np.full(1, len(ops), np.int64), kept, gates, fields, walk.chances, walk.draws,
        )  # fmt: skip
        done, self._live_gates = walk.take(fields), int(fields[k.MANY_GATES])
        places = np.flatnonzero(kept[:done])
        for place in places:
            self._ops[parameters[place]] = ops[place]
        if len(places):
            self._was_changed(len(places))
        no_room = done < len(ops) and kept[done] == NO_ROOM
        return places, not no_room or self._find_room()

    def _judge_share(self, scratch: Scratch, *asked: Any) -> None:
        k.judge_share(*self._circuit, scratch, *(asked if len(asked) > 10 else (*asked, *NO_WALK)))

    def judge(
        self, parameters: Sequence[int], ops: Sequence[int], limit: int, stop: int = -1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Return what becomes of the base with `ops[i]` for gate `parameters[i]`, for each i.

        These are the wrong bits, where a number above `limit` only says that there are more than
        that, and else the gates that the counted channels depend on. After the first with at most
        `stop` wrong bits nothing is told. None if the values of one do not fit.
        """
        wrong = np.full(len(parameters), UNTOLD)
        gates = np.empty(len(parameters), np.int64)
        asked = (np.asarray(parameters, np.int32), np.asarray(ops, np.uint8), limit, k.ALONE)
        count = self._workers.count if len(parameters) >= FEWEST_SHARED else 1
        self._follow_base(count)
        hit = np.full(1, len(parameters), np.int64)
        shares = [
            (*self._circuit, scratch, *asked, first, count, stop, hit, wrong, gates, *NO_WALK)
            for first, scratch in enumerate(self._scratch)
        ]
        if count == 1:
            k.judge_share(*shares[0])
        else:
            self._workers.run(k.judge_share, shares)
        if (wrong == NO_ROOM).any():
            return self.judge(parameters, ops, limit, stop) if self._find_room() else None
        hits = np.flatnonzero(wrong <= stop)
        told = hits[0] + 1 if len(hits) else len(wrong)
        return wrong[:told], gates[:told]


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
    nothing = np.zeros(first, np.int32)
    a, b = (np.concatenate([nothing, row]).astype(np.int32) for row in (netlist.a, netlist.b))
    param = np.concatenate([nothing + ABSENT, netlist.param]).astype(np.int32)
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


def warm_up(simulator: HardSimulator, ops: Ops) -> None:
    """Compile or load the kernels that judge; they are the same for any size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script, Workers(1))
    if candidates.differ_from(ops):
        candidates.judge([0], [0], 0)
        for _ in range(TIDY):
            candidates.take_over(0, int(ops[0]))
