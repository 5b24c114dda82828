"""Translates a netlist into the instructions that the compiled kernels execute.

Moving rows costs more than arithmetic, so there are three kinds of instruction:

- a *gate* computes one row. If its input a is the input b of the gate before, both are linked: the
  shared value and its gradient stay in registers;
- a *run* is adjacent gates that share their logits: a perception gate's copies for all channels;
- a *star* is seven runs at once: the tree of 4, 2 and 1 gates over four neighbours and the centre
  that gives one output of a perception kernel. Its inner values stay in registers and a scratch.

Rows are assigned by liveness. A row that nobody will read again is reused by a later instruction,
so that the kernels' memory stays in the nearest caches.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.system.array_types import Int32s, Ints


@dataclass(frozen=True)
class Program:
    """A compiled netlist. Values have rows in one tile, gradients in a second one.

    The forward code reuses rows and keeps only the outputs. The backward code keeps every row that
    the gradient needs; its instructions both recompute the values and walk back.
    """

    code: k.ProgramCode
    """The part of the program that the kernels need."""
    value_rows: int
    """Rows of the larger of both tiles of values."""
    gradient_rows: int
    parameters: int

    @property
    def gates(self) -> int:
        """Gates that are evaluated per cell. Gates that nobody reads have no instruction."""
        code = self.code.forward
        repeated = int(code.runs[:, k.WIDTH].sum()) + 7 * int(code.stars[:, k.STAR_WIDTH].sum())
        return len(code.gates) + repeated


YES = b"\1"
"""The mark of a row that is set."""


class Instruction(NamedTuple):
    """An instruction on netlist rows: each is the first of `width` adjacent ones.

    A star has seven `params`, the others have one.
    """

    reads: tuple[int, ...]
    out: int
    width: int
    params: tuple[int, ...]

    @property
    def is_star(self) -> bool:
        return len(self.params) == 7


_COMPILED: dict[int, tuple[weakref.ref[Netlist], Program]] = {}
"""Programs of the netlists in use: a plan and several engines compile the same netlist."""


def compile_program(netlist: Netlist) -> Program:
    """Return a netlist's instructions, with rows for the forward and the backward pass.

    The same netlist gives the same program object, which must not be changed.
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
    code = k.ProgramCode(
        forward=_encode(netlist, order, forward, gradient, no_adds),
        backward=_encode(netlist, order, backward, gradient, adds),
        zero_rows=zero_rows,
        inputs=np.arange(netlist.inputs, dtype=np.int32),
    )
    return Program(code, max(forward_rows, backward_rows), gradient_rows, netlist.parameters)


def instructions_of(netlist: Netlist) -> list[Instruction]:
    """Return the instructions of a netlist in the order of their execution."""
    instructions = _merge_stars(netlist, live_runs(netlist))
    stars = [i for i in instructions if i.is_star]
    runs = [i for i in instructions if not i.is_star and i.width > 1]
    gates = [i for i in instructions if not i.is_star and i.width == 1]
    return [*stars, *runs, *gates]


def live_runs(netlist: Netlist) -> list[Instruction]:
    """Return the runs of gates that outputs depend on, in the order of the netlist.

    The other runs are dropped: their logits have no gradient.
    """
    needed = _marks(netlist, netlist.outputs)
    kept = []
    for run in reversed(_runs(netlist)):
        if any(needed[run.out : run.out + run.width]):
            kept.append(run)
            for row in run.reads:
                needed[row : row + run.width] = YES * run.width
    return kept[::-1]


def _runs(netlist: Netlist) -> list[Instruction]:
    """Join the copies of a gate, one per channel: they and what they read are adjacent."""
    starts = np.flatnonzero(np.diff(netlist.param, prepend=-1))
    widths = np.diff(np.append(starts, netlist.gates))
    columns = (starts, netlist.a[starts], netlist.b[starts], netlist.param[starts], widths)
    return [
        Instruction((a, b), netlist.inputs + start, width, (param,))
        for start, a, b, param, width in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _marks(netlist: Netlist, rows: Ints) -> bytearray:
    """Return a mark per row, set for `rows`. Bytes are faster than an array for few at a time."""
    marks = bytearray(netlist.rows)
    for row in rows.tolist():
        marks[row] = 1
    return marks


def _merge_stars(netlist: Netlist, runs: list[Instruction]) -> list[Instruction]:
    """Replace each tree of seven runs over input rows with a common centre by one star."""
    writer = {run.out: run for run in runs}
    counts = np.bincount(netlist.outputs, minlength=netlist.rows + 1)
    # Count the readers of each row: a run adds one at its first row and removes it after its last.
    steps = np.zeros(netlist.rows + 1, dtype=int)
    first = np.array([row for run in runs for row in run.reads], dtype=int)
    width = np.array([run.width for run in runs for _ in run.reads], dtype=int)
    np.add.at(steps, first, 1)
    np.add.at(steps, first + width, -1)
    reads = (counts + np.cumsum(steps)).tolist()

    def private_inputs(run: Instruction) -> list[Instruction] | None:
        """Return the two runs that `run` reads, if nobody else reads them."""
        inner = []
        for row in run.reads:
            source = writer.get(row)
            if source is None or source.width != run.width:
                return None
            if set(reads[row : row + run.width]) != {1}:
                return None
            inner.append(source)
        return inner

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
            continue  # the kernel holds the centre's gradient while it adds to the leaves
        parts = [*leaves, *branches, run]
        merged[run.out] = Instruction(
            reads=(*(leaf.reads[0] for leaf in leaves), centers.pop()),
            out=run.out,
            width=run.width,
            params=tuple(part.params[0] for part in parts),
        )
        inside.update(part.out for part in parts[:-1])
    return [merged.get(run.out, run) for run in runs if run.out not in inside]


class _Rows:
    """Places blocks of adjacent netlist rows in a tile, most recently freed rows first."""

    def __init__(self, netlist: Netlist, order: Iterable[Instruction]) -> None:
        self.end = netlist.inputs
        self.place: list[int] = [*range(netlist.inputs), *[-1] * (netlist.rows - netlist.inputs)]
        """The tile row of each netlist row; -1 if its block is not placed yet."""
        self.block = [-1] * netlist.rows
        """The first row of the block that a netlist row belongs to; -1 for an input."""
        self._width = [1] * netlist.rows
        self._free: dict[int, list[int]] = {}
        for instruction in order:
            out = instruction.out
            width = instruction.width
            if width == 1:
                self.block[out] = out
            else:
                self.block[out : out + width] = [out] * width
                self._width[out] = width

    def at(self, row: int) -> int:
        """Return the tile row of a netlist row; place its block first if necessary."""
        if self.place[row] < 0:
            block = self.block[row]
            width = self._width[block]
            if free := self._free.get(width):
                first = free.pop()
            else:
                first, self.end = self.end, self.end + width
            self.place[block : block + width] = range(first, first + width)
        return self.place[row]

    def free(self, block: int) -> None:
        self._free.setdefault(self._width[block], []).append(self.place[block])


Placed = tuple[tuple[int, ...], int]
"""Tile rows of one instruction, in the order of its reads, and of its output."""


def _forward_rows(
    netlist: Netlist, order: list[Instruction], reuse: bool
) -> tuple[tuple[list[Placed], Int32s], int]:
    rows = _Rows(netlist, order)
    place = rows.place
    block = rows.block
    last_read: list[int] = [-1] * (netlist.rows + 1)
    """By block. The last element stands for all inputs, which are never freed."""
    for index, instruction in enumerate(order if reuse else ()):
        for row in instruction.reads:
            last_read[block[row]] = index
    for row in netlist.outputs.tolist():
        last_read[block[row]] = len(order)
    last_read[-1] = len(order)

    placed = []
    for index, instruction in enumerate(order):
        reads = tuple([place[row] for row in instruction.reads])
        # Free inputs before placing the output: a gate may overwrite an input that dies with it.
        for each in {block[row] for row in instruction.reads} if reuse else ():
            if last_read[each] == index:
                rows.free(each)
        placed.append((reads, rows.at(instruction.out)))
    outputs = np.array([rows.at(row) for row in netlist.outputs.tolist()], dtype=np.int32)
    return (placed, outputs), rows.end


def _gradient_rows(
    netlist: Netlist, order: list[Instruction]
) -> tuple[tuple[list[Placed], Int32s], int, list[int], Int32s]:
    """Place gradients: a row lives from its value's last reader back to the value's writer.

    The first reader in the backward walk stores to the row, the others add to it. A bit per read of
    each instruction says which.
    """
    rows = _Rows(netlist, order)
    place = rows.place
    written = _marks(netlist, netlist.outputs)
    linked = _links(order)
    outputs = np.array([rows.at(row) for row in netlist.outputs.tolist()], dtype=np.int32)
    # An input that is also an output gets its gradient from a row of its own: see pass_on.
    held = np.flatnonzero(outputs < netlist.inputs)
    outputs[held] = rows.end + np.arange(len(held))
    rows.end += len(held)
    zero_rows: list[int] = []
    placed: list[Placed] = []
    adds: list[int] = []

    def add_or_store(row: int, width: int) -> int:
        if width == 1:
            first, written[row] = not written[row], 1
            return not first
        adds_to = written[row : row + width]
        first = not any(adds_to)
        if not first and not all(adds_to):
            # Only some channels of an input were written. The rows of the others start at zero.
            assert row + width <= netlist.inputs, "rows of a block first written one by one"
            zero_rows.extend(_unmarked(written, row, row + width))
        written[row : row + width] = YES * width
        return not first

    for index in range(len(order) - 1, -1, -1):
        instruction = order[index]
        block = instruction.out
        width = instruction.width
        read = instruction.reads
        out = rows.at(block)
        unread = _unmarked(written, block, block + width)
        zero_rows += [out + row - block for row in unread]
        bits = 0
        # A gate's input b comes first, as in the kernels. A star's leaves come in their order.
        for position in range(len(read)) if instruction.is_star else (1, 0):
            if position != 0 or not linked[index]:
                bits |= add_or_store(read[position], width) << position
            rows.at(read[position])
        placed.append((tuple([place[row] for row in read]), out))
        adds.append(bits)
        if not unread:
            rows.free(block)
    zero_rows.extend(_unmarked(written, 0, netlist.inputs))
    placed.reverse()
    adds.reverse()
    return (placed, outputs), rows.end, adds, np.array(zero_rows, dtype=np.int32)


def _unmarked(marks: bytearray, start: int, stop: int) -> list[int]:
    return [row for row in range(start, stop) if not marks[row]]


def _links(order: list[Instruction]) -> list[bool]:
    """Return for each instruction whether it and the one before are linked gates.

    Linked means that the second gate's input a is the first gate's input b. A last element, False,
    stands for the end.
    """
    gates = [not each.is_star and each.width == 1 for each in order]
    linked = [False] * (len(order) + 1)
    for index in range(1, len(order)):
        if gates[index] and gates[index - 1]:
            linked[index] = order[index].reads[0] == order[index - 1].reads[1]
    return linked


def _encode(
    netlist: Netlist,
    order: list[Instruction],
    values: tuple[list[Placed], Int32s],
    gradients: tuple[list[Placed], Int32s],
    adds: list[int],
) -> k.Instructions:
    # Flat lists: NumPy converts them twice as fast as nested ones.
    stars: list[int] = []
    runs: list[int] = []
    gates: list[int] = []
    linked = _links(order)
    for index, instruction in enumerate(order):
        (reads, out) = values[0][index]
        (grad_reads, grad_out) = gradients[0][index]
        row = (*reads, out, instruction.width, *instruction.params, *grad_reads, grad_out)
        bits = adds[index]
        if instruction.is_star:
            stars += row
            stars.append(bits)
            continue
        flags = (k.ADD_A if bits & 1 else 0) | (k.ADD_B if bits & 2 else 0)
        flags |= k.LINK if linked[index] else 0
        flags |= k.LINKED if linked[index + 1] else 0
        kind = runs if instruction.width > 1 else gates
        kind += row
        kind.append(flags)
    return k.Instructions(
        stars=np.array(stars, np.int32).reshape(-1, k.STAR_FIELDS),
        runs=np.array(runs, np.int32).reshape(-1, k.FIELDS),
        gates=np.array(gates, np.int32).reshape(-1, k.FIELDS),
        outputs=values[1],
        grad_outputs=gradients[1],
    )
