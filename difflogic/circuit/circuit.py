"""The hard circuit: the update of one cell as two-input gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from difflogic.circuit.evaluate import BitLogic, evaluate
from difflogic.circuit.gates import READS, Op
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.system.array_types import Array, Bits, Flags, Int32s, Int64s
from difflogic.system.errors import CircuitError


@dataclass(frozen=True, eq=False)
class Circuit:
    """One cell's update as a list of gates in topological order.

    Rows 0 to 9·C - 1 are the inputs: row n·C + c is channel c of neighbour n (row-major, 4 is the
    centre), as in a `Netlist`. Gate g computes `op[g]` of rows `a[g]` and `b[g]`, both below its
    own, and writes row 9·C + g. An input that the op ignores may be any lower row. `outputs[c]` is
    the row of channel c's next state. `labels[c]` is the number that channel c had in training,
    since simplifying drops channels.

    Raises CircuitError if a row, an op or a shape does not fit.
    """

    op: Bits
    a: Int32s
    b: Int32s
    outputs: Int32s
    labels: tuple[int, ...]
    interpreter: ClassVar[Any] = None
    """What takes its steps in place of gates, if it is a rule by chance."""

    def __post_init__(self) -> None:
        for name in ("op", "a", "b", "outputs"):
            array = np.array(getattr(self, name), np.uint8 if name == "op" else np.int32)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "labels", tuple(map(int, self.labels)))
        self._check()

    def __repr__(self) -> str:
        return f"Circuit({self.gates} gates, {self.channels} channels)"

    def _check(self) -> None:
        if not self.labels:
            raise CircuitError("a circuit needs at least one channel")
        require_distinct("channel", self.labels)
        if min(self.labels) < 0:
            raise CircuitError(f"channel {min(self.labels)}: channel numbers cannot be negative")
        if not (self.op.shape == self.a.shape == self.b.shape == (self.gates,)):
            raise CircuitError("op, a and b need one entry per gate each")
        if self.outputs.shape != (self.channels,):
            raise CircuitError(
                f"{self.channels} channels need {self.channels} outputs, not {len(self.outputs)}"
            )
        unknown = np.flatnonzero(self.op >= len(Op))
        if len(unknown):
            raise CircuitError(
                f"gate {unknown[0]}: {self.op[unknown[0]]} is not an op from 0 to 15"
            )
        own = np.arange(self.inputs, self.rows)
        for wires in (self.a, self.b):
            wrong = np.flatnonzero((wires < 0) | (wires >= own))
            if len(wrong):
                gate = int(wrong[0])
                raise CircuitError(
                    f"gate {gate} reads row {wires[gate]}, which is its own, a later gate's or "
                    f"none: it may read rows 0 to {own[gate] - 1}, the inputs and the gates before"
                )
        wrong = np.flatnonzero((self.outputs < 0) | (self.outputs >= self.rows))
        if len(wrong):
            raise CircuitError(
                f"output {wrong[0]} is row {self.outputs[wrong[0]]}, which does not exist: the "
                f"circuit has rows 0 to {self.rows - 1}"
            )

    @property
    def channels(self) -> int:
        return len(self.labels)

    @property
    def inputs(self) -> int:
        return NEIGHBORHOOD * self.channels

    @property
    def gates(self) -> int:
        return len(self.op)

    @property
    def rows(self) -> int:
        return self.inputs + self.gates

    def reads(self, gate: int) -> tuple[int, ...]:
        """Return the rows that a gate's value depends on: none, one or two."""
        wires = (int(self.a[gate]), int(self.b[gate]))
        return tuple(row for row, used in zip(wires, READS[self.op[gate]], strict=True) if used)

    @cached_property
    def sources(self) -> Int32s:
        """The rows that each gate reads, (2, gates); an ignored input is row `rows`, the end."""
        reads = np.array(READS)[self.op].T
        return np.where(reads, np.stack([self.a, self.b]), np.int32(self.rows))

    @cached_property
    def depth(self) -> int:
        """Gates on the longest path from an input to an output. A constant starts a path."""
        levels: list[int] = [0] * (self.rows + 1)
        for row, (a, b) in enumerate(zip(*self.sources.tolist(), strict=True), self.inputs):
            levels[row] = max(levels[a], levels[b]) + 1
        outputs: list[int] = self.outputs.tolist()
        return max(levels[row] for row in outputs)

    @cached_property
    def fan_out(self) -> Int64s:
        """How often gates and outputs read each row, (rows,). Ignored inputs do not count."""
        read = np.concatenate([self.sources.ravel(), self.outputs])
        return np.bincount(read, minlength=self.rows + 1)[: self.rows]

    @cached_property
    def read_inputs(self) -> Int64s:
        """Input rows with a path to an output, ascending."""
        needed = self.needed(range(self.channels))
        return np.flatnonzero(needed[: self.inputs])

    @cached_property
    def active_gates(self) -> int:
        """Number of gates with a path to an output, without those that pass an input on."""
        needed = self.needed(range(self.channels))[self.inputs :]
        return int((needed & ~np.isin(self.op, (Op.A, Op.B))).sum())

    def needed(self, channels: Sequence[int]) -> Flags:
        """Return which rows have a path to the next state of `channels`, (rows,)."""
        _, a, b = self.lists
        return reached(self.inputs, a, b, [int(self.outputs[channel]) for channel in channels])

    def cone(self, row: int) -> list[int]:
        """Return the rows with a path to `row`, and `row` itself, ascending."""
        _, a, b = self.lists
        found: list[int] = np.flatnonzero(reached(self.inputs, a, b, [row])).tolist()
        return found

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Each gate's op and its two `sources`, as `evaluate` reads them."""
        a, b = self.sources.tolist()
        return self.op.tolist(), a, b

    def op_counts(self) -> dict[Op, int]:
        """Return the number of gates of each op that occurs, in the order of ops."""
        counts = np.bincount(self.op, minlength=len(Op)).tolist()
        return {op: counts[op] for op in Op if counts[op]}

    def input_name(self, row: int) -> str:
        """Return the name of an input row, such as NW0: its neighbour and its channel's label."""
        neighbor, channel = divmod(int(row), self.channels)
        return f"{NEIGHBORS[neighbor]}{self.labels[channel]}"

    def next_state(self, inputs: Array) -> Array:
        """Return the next state (C, …) of cells with neighbourhoods `inputs` (9·C, …).

        The inputs are bool, or unsigned integers whose bits are separate cases.
        """
        if len(inputs) != self.inputs:
            raise ValueError(f"{self.inputs} input rows expected, {len(inputs)} given")
        rows = evaluate(self, inputs, BitLogic(~np.zeros_like(inputs[0])))
        return np.array([rows[row] for row in self.outputs.tolist()], inputs.dtype)


def require_distinct(what: str, labels: Sequence[int]) -> None:
    """Raise CircuitError if a number occurs twice."""
    label, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise CircuitError(f"{what} {label} occurs {count} times: each may occur once")


def reached(
    inputs: int, a: Sequence[int], b: Sequence[int], rows: Iterable[int], after: Sequence[int] = ()
) -> Flags:
    """Return which rows the values of `rows` depend on, these included, shape (rows,).

    Gates read `a` and `b`, as in a Graph's lists. With `after`, the row of each channel's next
    state, also what they depend on in earlier steps: input row r is of channel r mod channels.
    """
    end = inputs + len(a)
    channels = len(after)
    waiting = list(rows)
    seen = bytearray(end + 1)
    seen[end] = 1
    while waiting:
        row = waiting.pop()
        if not seen[row]:
            seen[row] = 1
            if row >= inputs:
                waiting += a[row - inputs], b[row - inputs]
            elif channels:
                waiting.append(after[row % channels])
    return np.frombuffer(seen, np.bool_)[:end]
