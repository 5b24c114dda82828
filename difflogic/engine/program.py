"""From a netlist to the instructions that the compiled kernels execute.

Three kinds of instruction carry the speed, since moving rows costs more than arithmetic:

- a *gate*: one row. Where its input a is the input b of the gate before, both are linked and the
  shared value, and the shared input's gradient, stay in registers;
- a *run*: adjacent gates that share their logits, a perception gate's copies for all channels;
- a *star*: seven runs at once, the tree of 4, 2 and 1 gates over four neighbours and the centre
  that makes one output of a perception kernel. Its inner values never leave the registers.

Rows are assigned by liveness: a row that nobody will read again is given to a later instruction,
and what the kernels touch stays in the nearest caches.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.engine.kernels import structures as k
from difflogic.netlist import Netlist


@dataclass(frozen=True)
class Program:
    """A netlist, compiled. Row numbers count rows of a tile, gradient rows those of a second one.

    `forward` reuses rows and keeps only the outputs; `backward` keeps every row that the gradient
    needs, and its instructions serve both to recompute the values and to walk back.
    """

    forward: k.Code
    forward_rows: int
    backward: k.Code
    backward_rows: int
    gradient_rows: int
    zero_rows: npt.NDArray[np.int32]
    """Gradient rows to clear before the walk back: what nobody writes, or not first."""
    inputs: int
    rows: int
    """Those of the netlist: its inputs and gates."""
    parameters: int

    @property
    def code(self) -> k.ProgramCode:
        """What the kernels need of it."""
        inputs = np.arange(self.inputs, dtype=np.int32)
        return k.ProgramCode(self.forward, self.backward, self.zero_rows, inputs)

    @property
    def gates(self) -> int:
        """Gates that are evaluated per cell: those that nobody reads have no instruction."""
        code = self.forward
        repeated = int(code.runs[:, k.WIDTH].sum()) + 7 * int(code.stars[:, k.STAR_WIDTH].sum())
        return len(code.gates) + repeated


@dataclass(frozen=True)
class Instruction:
    """Netlist rows are the first of `width` adjacent ones; `params` has 1 entry, or 7 of a star."""

    reads: tuple[int, ...]
    out: int
    width: int
    params: tuple[int, ...]

    @property
    def is_star(self) -> bool:
        return len(self.params) == 7


_COMPILED: dict[int, tuple[weakref.ref[Netlist], Program]] = {}
"""Programs of the netlists that are still in use: a plan and several engines ask for the same."""


def compile_program(netlist: Netlist) -> Program:
    """Turn a netlist into instructions, with rows for the forward and the backward pass.

    The same netlist gives the same program, which must not be changed.
    """
    key = id(netlist)
    known = _COMPILED.get(key)
    if known is None or known[0]() is not netlist:
        forget = weakref.ref(netlist, lambda _: _COMPILED.pop(key, None))
        known = _COMPILED[key] = forget, _compile(netlist)
    return known[1]


def _compile(netlist: Netlist) -> Program:
    order = instructions_of(netlist)
    forward, forward_rows = _forward_rows(netlist, order, reuse=True)
    backward, backward_rows = _forward_rows(netlist, order, reuse=False)
    gradient, gradient_rows, adds, zero_rows = _gradient_rows(netlist, order)
    no_adds = [0] * len(order)
    return Program(
        forward=_encode(netlist, order, forward, gradient, no_adds),
        forward_rows=forward_rows,
        backward=_encode(netlist, order, backward, gradient, adds),
        backward_rows=backward_rows,
        gradient_rows=gradient_rows,
        zero_rows=zero_rows,
        inputs=netlist.inputs,
        rows=netlist.rows,
        parameters=netlist.parameters,
    )


def instructions_of(netlist: Netlist) -> list[Instruction]:
    """Return the instructions of a netlist in the order in which they are executed."""
    instructions = _merge_stars(netlist, live_runs(netlist))
    stars = [i for i in instructions if i.is_star]
    runs = [i for i in instructions if not i.is_star and i.width > 1]
    gates = [i for i in instructions if not i.is_star and i.width == 1]
    order = [*stars, *runs, *gates]
    _require_topological(netlist, order)
    return order


def live_runs(netlist: Netlist) -> list[Instruction]:
    """Return the runs of adjacent gates that outputs depend on, in the order of the netlist."""
    return _live(netlist, _runs(netlist))


def _runs(netlist: Netlist) -> list[Instruction]:
    """Join gates that follow each other in a, b and out, and share their logits."""
    joins = (np.diff(netlist.param) == 0) & (np.diff(netlist.a) == 1) & (np.diff(netlist.b) == 1)
    starts = np.flatnonzero(np.concatenate([[True], ~joins]))
    widths = np.diff(np.append(starts, netlist.gates))
    return [
        Instruction(
            reads=(int(netlist.a[start]), int(netlist.b[start])),
            out=netlist.inputs + int(start),
            width=int(width),
            params=(int(netlist.param[start]),),
        )
        for start, width in zip(starts, widths, strict=True)
    ]


def _live(netlist: Netlist, runs: list[Instruction]) -> list[Instruction]:
    """Drop runs that no output depends on: their logits have no gradient."""
    needed = np.zeros(netlist.rows, dtype=bool)
    needed[netlist.outputs] = True
    kept = []
    for run in reversed(runs):
        if needed[run.out : run.out + run.width].any():
            kept.append(run)
            for row in run.reads:
                needed[row : row + run.width] = True
    return kept[::-1]


def _merge_stars(netlist: Netlist, runs: list[Instruction]) -> list[Instruction]:
    """Replace each tree of seven runs over input rows with a common centre by one star."""
    writer = {run.out: run for run in runs}
    reads = np.zeros(netlist.rows, dtype=int)
    for run in runs:
        for row in run.reads:
            reads[row : row + run.width] += 1
    reads[netlist.outputs] += 1

    def private_inputs(run: Instruction) -> list[Instruction] | None:
        """The two runs that `run` reads, if nobody else reads them."""
        inner = [writer.get(row) for row in run.reads]
        if any(
            source is None
            or source.width != run.width
            or (reads[source.out : source.out + run.width] != 1).any()
            for source in inner
        ):
            return None
        return [source for source in inner if source is not None]

    merged: dict[int, Instruction] = {}
    inside: set[int] = set()
    for run in runs:
        branches = private_inputs(run)
        if branches is None:
            continue
        pairs = [private_inputs(branch) for branch in branches]
        if pairs[0] is None or pairs[1] is None:
            continue
        leaves = pairs[0] + pairs[1]
        centers = {leaf.reads[1] for leaf in leaves}
        rows = [row for leaf in leaves for row in leaf.reads]
        if len(centers) > 1 or any(row + run.width > netlist.inputs for row in rows):
            continue
        if centers & {leaf.reads[0] for leaf in leaves}:
            continue  # the kernel holds the centre's gradient while it adds to the leaves'
        parts = [*leaves, *branches, run]
        merged[run.out] = Instruction(
            reads=(*(leaf.reads[0] for leaf in leaves), centers.pop()),
            out=run.out,
            width=run.width,
            params=tuple(part.params[0] for part in parts),
        )
        inside.update(part.out for part in parts[:-1])
    return [merged.get(run.out, run) for run in runs if run.out not in inside]


def _require_topological(netlist: Netlist, order: list[Instruction]) -> None:
    defined = np.arange(netlist.rows) < netlist.inputs
    for instruction in order:
        for row in instruction.reads:
            assert defined[row : row + instruction.width].all(), "instructions out of order"
        defined[instruction.out : instruction.out + instruction.width] = True


class _Rows:
    """Places blocks of adjacent netlist rows in a tile, most recently freed rows first."""

    def __init__(self, netlist: Netlist, order: Iterable[Instruction]) -> None:
        self.end = netlist.inputs
        self._free: dict[int, list[int]] = {}
        self._owner = np.full(netlist.rows, -1)
        self._width: dict[int, int] = {}
        self._place: dict[int, int] = {}
        for instruction in order:
            rows = slice(instruction.out, instruction.out + instruction.width)
            self._owner[rows] = instruction.out
            self._width[instruction.out] = instruction.width

    def block(self, row: int) -> int:
        """First row of the block that `row` belongs to; -1 for an input."""
        return int(self._owner[row])

    def at(self, row: int) -> int:
        """The tile row of a netlist row; its block is placed if it is not yet."""
        block = self.block(row)
        if block < 0:
            return row
        if block not in self._place:
            width = self._width[block]
            if self._free.get(width):
                self._place[block] = self._free[width].pop()
            else:
                self._place[block] = self.end
                self.end += width
        return self._place[block] + row - block

    def free(self, block: int) -> None:
        self._free.setdefault(self._width[block], []).append(self._place[block])


@dataclass(frozen=True)
class _Placed:
    """Tile rows of one instruction, in the order of its reads, and of its output."""

    reads: tuple[int, ...]
    out: int


def _forward_rows(
    netlist: Netlist, order: list[Instruction], reuse: bool
) -> tuple[tuple[list[_Placed], npt.NDArray[np.int32]], int]:
    rows = _Rows(netlist, order)
    last_read: dict[int, int] = {}
    for index, instruction in enumerate(order):
        for row in instruction.reads:
            last_read[rows.block(row)] = index
    for row in netlist.outputs:
        last_read[rows.block(row)] = len(order)

    placed = []
    for index, instruction in enumerate(order):
        reads = tuple(rows.at(row) for row in instruction.reads)
        # Freed before the output is placed: a gate may overwrite an input that dies with it.
        for block in {rows.block(row) for row in instruction.reads}:
            if reuse and block >= 0 and last_read[block] == index:
                rows.free(block)
        placed.append(_Placed(reads, rows.at(instruction.out)))
    outputs = np.array([rows.at(row) for row in netlist.outputs], dtype=np.int32)
    return (placed, outputs), rows.end


def _gradient_rows(
    netlist: Netlist, order: list[Instruction]
) -> tuple[tuple[list[_Placed], npt.NDArray[np.int32]], int, list[int], npt.NDArray[np.int32]]:
    """Place gradients: a row lives from its value's last reader, back to the value's writer.

    The first reader that the backward walk meets stores to the row, the others add to it: a bit
    per read of each instruction says which.
    """
    rows = _Rows(netlist, order)
    written = np.zeros(netlist.rows, dtype=bool)
    written[netlist.outputs] = True
    outputs = np.array([rows.at(row) for row in netlist.outputs], dtype=np.int32)
    zero_rows: list[int] = []
    placed: list[_Placed] = []
    adds: list[int] = []

    def add_or_store(row: int, width: int) -> bool:
        adds_to = written[row : row + width]
        first = not adds_to.any()
        if not first and not adds_to.all():
            # Only some channels of an input have been written: the others' rows start at zero.
            assert row + width <= netlist.inputs, "rows of a block first written one by one"
            zero_rows.extend(row + int(offset) for offset in np.flatnonzero(~adds_to))
        written[row : row + width] = True
        return not first

    for index in range(len(order) - 1, -1, -1):
        instruction = order[index]
        block = slice(instruction.out, instruction.out + instruction.width)
        out = rows.at(instruction.out)
        unread = np.flatnonzero(~written[block])
        zero_rows.extend(out + int(offset) for offset in unread)
        reads = [0] * len(instruction.reads)
        bits = 0
        # A gate's input b first, as its chain hands that gradient on (see kernels); a star's leaves
        # in their order.
        positions = range(len(reads))
        for position in positions if instruction.is_star else reversed(positions):
            row = instruction.reads[position]
            if position == 0 and _linked(order, index):
                reads[position] = rows.at(row)
                continue
            if add_or_store(row, instruction.width):
                bits |= 1 << position
            reads[position] = rows.at(row)
        placed.append(_Placed(tuple(reads), out))
        adds.append(bits)
        if not len(unread):
            rows.free(instruction.out)
    zero_rows.extend(int(row) for row in np.flatnonzero(~written[: netlist.inputs]))
    placed.reverse()
    adds.reverse()
    return (placed, outputs), rows.end, adds, np.array(zero_rows, dtype=np.int32)


def _linked(order: list[Instruction], index: int) -> bool:
    """Whether this gate's input a is the input b of the gate before."""
    if index == 0 or index == len(order):
        return False
    before, gate = order[index - 1], order[index]
    gates = all(not i.is_star and i.width == 1 for i in (before, gate))
    return gates and gate.reads[0] == before.reads[1]


def _encode(
    netlist: Netlist,
    order: list[Instruction],
    values: tuple[list[_Placed], npt.NDArray[np.int32]],
    gradients: tuple[list[_Placed], npt.NDArray[np.int32]],
    adds: list[int],
) -> k.Code:
    stars: list[list[int]] = []
    runs: list[list[int]] = []
    gates: list[list[int]] = []
    for index, instruction in enumerate(order):
        value, gradient, bits = values[0][index], gradients[0][index], adds[index]
        if instruction.is_star:
            stars.append(
                [*value.reads, value.out, instruction.width, *instruction.params,
                 *gradient.reads, gradient.out, bits]
            )  # fmt: skip
            continue
        flags = (k.ADD_A if bits & 1 else 0) | (k.ADD_B if bits & 2 else 0)
        flags |= k.LINK if _linked(order, index) else 0
        flags |= k.LINKED if _linked(order, index + 1) else 0
        (runs if instruction.width > 1 else gates).append(
            [*value.reads, value.out, instruction.width, *instruction.params,
             *gradient.reads, gradient.out, flags]
        )  # fmt: skip
    return k.Code(
        stars=np.array(stars, np.int32).reshape(-1, k.STAR_FIELDS),
        runs=np.array(runs, np.int32).reshape(-1, k.FIELDS),
        gates=np.array(gates, np.int32).reshape(-1, k.FIELDS),
        outputs=values[1],
        grad_outputs=gradients[1],
    )
