"""The hard automaton: 64 cells to a word, and each gate is a few bitwise instructions.

A hardened circuit is pruned first, since most gates of a trained circuit only pass an input on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from difflogic.circuit.gates import COEFFICIENTS
from difflogic.circuit.grid import Grid, shifts
from difflogic.circuit.hard_netlist import netlist_of, unchanging
from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import hard as kernels
from difflogic.engine.kernels import structures as k
from difflogic.system.array_types import Array, Bits, Flags, Int32s, Int64s, Words
from difflogic.system.arrays import aligned
from difflogic.system.work import heartbeat

GATE_WORDS_PER_CALL = 5 * 10**7
"""Gates times words that a kernel evaluates in one call, about: some hundredths of a second.
Longer rollouts can be stopped between calls."""


# Over bits, the coefficients modulo 2 are the op's algebraic normal form.
NORMAL_FORMS = np.where(COEFFICIENTS.astype(np.int64) % 2 == 1, ~np.uint64(0), np.uint64(0))
"""Each op's algebraic normal form as words of zeros or ones, shape (16, 4)."""

_NO_ROWS = np.empty(0, np.int32)


class HardSimulator:
    """Runs hardened circuits of one netlist on batches of one grid."""

    def __init__(self, netlist: Netlist, grid: Grid, batch: int, kept: int = 2) -> None:
        """A rollout keeps its last `kept` states, at least two."""
        self.netlist = netlist
        self.grid = grid
        self.batch = batch
        self._bits = batch * grid.cells
        self.words = -(-self._bits // (64 * k.WORDS)) * k.WORDS
        """Words of a packed row of all samples' cells."""
        self.cells = self._find_neighbors()
        shape = (kept, netlist.channels, self.words + 2 * self.cells.pad)
        self._states = np.zeros(shape, dtype=np.uint64)

        self._tile = aligned((netlist.rows, k.WORDS), np.uint64)
        self._code: k.HardCode | None = None
        self.active_gates = 0
        """Gates of the loaded circuit that are evaluated per cell and step."""

    def _find_neighbors(self) -> k.HardCells:
        """Express each neighbour as shifts of the whole batch, each under a mask of cells."""
        views = shifts(self.grid.height, self.grid.width, self.grid.boundary)
        far, valid = zip(*(each for view in views for each in view), strict=True)
        start = np.cumsum([0, *map(len, views)])
        # One after the other: unpacked, a mask takes eight times the memory.
        masks = np.concatenate([self._pack(np.tile(each, self.batch)[None]) for each in valid])
        # Enough for every shifted read, with one word more for bits that straddle two words.
        pad = max(map(abs, far)) // 64 + 2
        skip, shift = np.divmod(np.array(far, np.int64) + 64 * pad, 64)
        return k.HardCells(
            pad, self.grid.cells, start, skip, shift.astype(np.uint64), masks, NORMAL_FORMS
        )

    def _pack(self, rows: Array) -> Words:
        """Pack (rows, bits) into (rows, words)."""
        packed = np.zeros((len(rows), 8 * self.words), dtype=np.uint8)
        packed[:, : -(-rows.shape[1] // 8)] = np.packbits(rows, axis=1, bitorder="little")
        return packed.view("<u8").astype(np.uint64, copy=False)

    def pack_states(self, states: Array) -> Words:
        """Pack states (batch, C, H, W) of bits into (C, words)."""
        by_channel = states.reshape(self.batch, states.shape[1], -1).swapaxes(0, 1)
        return self._pack(by_channel.reshape(states.shape[1], -1))

    def _pack_cells(self, cells: Array | None) -> Words:
        """Pack (batch, n, H, W) into (n, words); None gives a row of ones."""
        if cells is None:
            return np.full((1, self.words), ~np.uint64(0))
        return self.pack_states(cells)

    def load(
        self, ops: Bits, channels: Sequence[int] | None = None, wanted: Int32s = _NO_ROWS
    ) -> Pruned:
        """Load the circuit with these `ops`, shape (parameters,).

        With `channels`, only what their states or the `wanted` rows ever depend on is computed.
        Other channels of the rollout's states are then undefined.
        """
        found = prune(self.netlist, ops, channels, wanted)
        self._code = found.code
        self.active_gates = len(found.code.gates)
        return found

    @property
    def hard_run(self) -> k.HardRun:
        """The loaded circuit at work, for kernels. Raises ValueError if there is none."""
        if self._code is None:
            raise ValueError("no circuit yet: call load() first")
        tile = self._tile[: self.netlist.inputs + self.active_gates]
        return k.HardRun(self._code, self.cells, self._states, tile)

    def script(
        self,
        steps: int,
        masks: Bits | None = None,
        damage: Bits | None = None,
        at: Sequence[int] = (),
        targets: Array | None = None,
        channels: Sequence[int] = (),
        ignored: Array | None = None,
        counts: Flags | None = None,
        by_cell: bool = False,
    ) -> k.HardScript:
        """Prepare a rollout of this simulator's batch for `run`. All arrays hold 0 and 1.

        `masks` (batch, steps, H, W) is 1 where a cell takes its new state. `damage`, of the same
        shape or with one step for all, is 1 where a cell is zeroed after the step.

        Wrong bits of `channels`, or with `by_cell` the cells that have any, are counted after the
        steps `at`, ascending from 1. `targets` is (batch, L, H, W), or (counts, batch, L, H, W)
        with a target for each of these steps. Cells where `ignored`, (H, W) or (batch, H, W), is 1
        do not count. `counts` (counts, batch) says which samples count after which of the steps; by
        default all.
        """
        if targets is None or not len(at):
            packed = np.zeros((1, len(channels), self.words), dtype=np.uint64)
        else:
            each = targets if targets.ndim == 5 else targets[None]
            packed = np.stack([self.pack_states(target != 0) for target in each])
        some = np.ones((1, self.batch), np.uint8) if counts is None else counts
        ignored = np.zeros(self.grid.cells) if ignored is None else ignored
        cells = 1 - ignored.reshape(-1, self.grid.cells).astype(np.uint8)
        counted = (some[:, :, None] * cells).reshape(len(some), -1)
        keeps = None if damage is None else 1 - damage
        return k.HardScript(
            steps,
            self._pack_cells(masks),
            self._pack_cells(keeps),
            np.array(at, dtype=np.int64),
            np.array(channels, dtype=np.int32),
            packed,
            self._pack(counted),
            by_cell,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Channels and words of a packed state, with `cells.pad` words before and after."""
        return self._states.shape[1:]

    @property
    def state(self) -> Words:
        """The packed states of all samples, shape (C, words): where `run` begins and ends.

        Bits beyond the last sample are undefined.
        """
        pad = self.cells.pad
        return self._states[0, :, pad : pad + self.words]

    def run(self, script: k.HardScript, done: int = 0, total: int = 0) -> Int64s:
        """Run the script from `state`; return the bits or cells that it counts, (counts, batch).

        If the script is a part of a longer rollout, `done` of its `total` steps came before; pauses
        report them. Raises ValueError if no circuit is loaded.
        """
        wrong = self.roll(script, done, total)
        if last := script.steps % len(self._states):
            self._states[0] = self._states[last]
        return wrong

    def roll(self, script: k.HardScript, done: int = 0, total: int = 0) -> Int64s:
        """Do `run`, but leave the state after the last step where the kept states end."""
        run = self.hard_run
        wrong = np.zeros((len(script.at), self.batch), dtype=np.int64)
        per_call = steps_per_call(self.active_gates, self.words)
        steady = len(script.fires) == len(script.keeps) == 1 and len(self._states) == 2
        for first in range(0, script.steps, per_call):
            heartbeat("rollout of the hard circuit", done + first, total or script.steps)
            end = min(first + per_call, script.steps)
            kernels.hard_rollout(run, script, first, end, wrong)
            if steady and np.array_equal(*self._states):
                # A fixed point: later states are the same, and need only be counted.
                for step in script.at[script.at > end]:
                    kernels.hard_rollout(run, script, step - 1, step, wrong)
                break
        return wrong

    def rollout(
        self, starts: Bits, steps: int, masks: Bits | None = None, damage: Bits | None = None
    ) -> Bits:
        """Return the states after `steps` steps as 0 and 1, shape (batch, C, H, W).

        `starts` has the same shape. `masks` and `damage` are as in `script`. Call `load` first.
        """
        self.state[:] = self.pack_states(starts)
        self.run(self.script(steps, masks, damage))
        return self.unpack_state()

    def unpack_state(self) -> Bits:
        """Return `state` as 0 and 1, shape (batch, C, H, W)."""
        packed = self.state.astype("<u8").view(np.uint8)
        bits = np.unpackbits(packed, axis=1, bitorder="little")
        shape = (self.netlist.channels, self.batch, self.grid.height, self.grid.width)
        return bits[:, : self._bits].reshape(shape).swapaxes(0, 1)


def steps_per_call(gates: int, words: int) -> int:
    """Return how many steps a kernel's call takes, given the gates of a step."""
    return max(1, GATE_WORDS_PER_CALL // ((1 + gates) * words))


def active_gates(netlist: Netlist, ops: Bits, channels: Sequence[int] | None = None) -> Int32s:
    """Return the active gates of the netlist, ascending.

    They do more than pass an input on, and the next state of some channel depends on them through
    inputs that ops do not ignore. With `channels`, only the later states of these channels count.
    """
    return prune(netlist, ops, channels).origin


def live_parameters(netlist: Netlist, ops: Bits, channels: Sequence[int]) -> Flags:
    """Return which parameters the later states of `channels` depend on, shape (parameters,).

    Gates that only pass an input on are included. Fixed gates, which have no logits, are not.
    """
    live = mark_live(netlist, ops, channels).live
    marked = np.zeros(netlist.parameters, dtype=np.bool_)
    marked[netlist.param[live[netlist.inputs :]]] = True
    return marked


def mark_live(netlist: Netlist, ops: Bits, channels: Sequence[int]) -> k.Marks:
    """Return which rows and channels the later states of `channels` depend on.

    Gates that only pass an input on are included.
    """
    marks = new_marks(netlist)
    counted = np.array(list(channels), np.int32)
    rows = np.arange(netlist.rows, dtype=np.int32)
    kernels.spread(wires_of(netlist), rows, row_ops(netlist, ops), counted, _NO_ROWS, marks)
    return marks


def new_marks(netlist: Netlist) -> k.Marks:
    """Return room for marks of a netlist."""
    live = np.empty(netlist.rows, np.bool_)
    channels = np.empty(netlist.channels, np.bool_)
    return k.Marks(live, channels, np.empty(netlist.rows, np.int32))


def wires_of(netlist: Netlist) -> k.NetlistArrays:
    """Return a netlist's wires by rows, for kernels."""
    a, b, _ = netlist.wires
    return k.NetlistArrays(a, b, netlist.outputs, netlist.inputs)


def row_ops(netlist: Netlist, ops: Bits) -> Bits:
    """Return the op of each row (rows,), from that of each parameter; 0 for inputs."""
    return np.concatenate([np.zeros(netlist.inputs, np.uint8), ops[netlist.param]])


class Pruned(NamedTuple):
    """What remains of a hardened netlist."""

    code: k.HardCode
    origin: Int32s
    """Gates of the netlist that remain, ascending."""
    values: Int64s
    """Row of the code's tile that holds the value of each needed row, shape (rows,)."""


def prune(
    netlist: Netlist, ops: Bits, channels: Sequence[int] | None = None, wanted: Int32s = _NO_ROWS
) -> Pruned:
    """Reduce a netlist to what the states of `channels` and the `wanted` rows ever depend on.

    `ops` has shape (parameters,). By default all channels count.
    """
    counted = np.array(range(netlist.channels) if channels is None else list(channels), np.int32)
    found = k.Pruning(
        source=np.empty(netlist.rows, np.int32),
        number=np.empty(netlist.rows, np.int64),
        marks=new_marks(netlist),
        gates=np.empty((netlist.gates, k.HARD_FIELDS), np.int32),
        origin=np.empty(netlist.gates, np.int32),
        outputs=np.empty(netlist.channels, np.int32),
    )
    kept = kernels.prune(wires_of(netlist), row_ops(netlist, ops), counted, wanted, found)
    inputs = np.flatnonzero(found.marks.live[: netlist.inputs])
    inputs = np.stack([inputs, *np.divmod(inputs, netlist.channels)], axis=1).astype(np.int32)
    alive = np.flatnonzero(found.marks.channels).astype(np.int32)
    code = k.HardCode(found.gates[:kept], inputs, alive, found.outputs[alive])
    return Pruned(code, found.origin[:kept], found.number[found.source])


def smallest() -> tuple[HardSimulator, Bits]:
    """Return the simulator of a cell that keeps its state, and ops to load, to compile kernels."""
    netlist, ops = netlist_of(unchanging(), 1)
    return HardSimulator(netlist, Grid(1, 1, "zero"), 1), ops


def load_kernels() -> None:
    """Compile or load the kernels, which are the same for all circuits and grids."""
    simulator, ops = smallest()
    simulator.load(ops)
    simulator.rollout(np.zeros((1, 1, 1, 1), np.uint8), 1)
    live_parameters(simulator.netlist, ops, (0,))
