"""Circuits of ANDs and XORs with inverters on the edges, no two gates alike.

The form that rewriting works on: a *literal* is twice a node's number, plus one if it is
inverted. Node 0 is constant 0, then come the inputs, then the gates. All 16 ops are an AND or a
XOR of such literals, inverted or not; De Morgan's laws, double inverters and equal gates vanish
as a circuit is built.

Source: structural hashing as in and-inverter graphs (Mishchenko, Chatterjee and Brayton 2006,
"DAG-aware AIG rewriting"), with XOR as a second kind of node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import OPS, Logic, evaluate
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.inverters import melted
from difflogic.system.deadline import NEVER, Deadline

FALSE, TRUE = 0, 1
"""The constant literals."""


class Kind(IntEnum):
    """What a gate of a Xag computes."""

    AND = 0
    XOR = 1


_AND_OPS = {
    # (x inverted, y inverted) → op, and the op of the inverted gate
    (0, 0): (Op.AND, Op.NAND),
    (0, 1): (Op.A_AND_NOT_B, Op.NOT_A_OR_B),
    (1, 0): (Op.NOT_A_AND_B, Op.A_OR_NOT_B),
    (1, 1): (Op.NOR, Op.OR),
}
_OPS = {
    (kind, *flips): int(ops[0])
    for kind, found in ((Kind.AND, _AND_OPS), (Kind.XOR, {(0, 0): (Op.XOR,)}))
    for flips, ops in found.items()
}
"""The op of a gate, by its kind and by which of its literals are inverted."""
_FLIPS = {
    int(op): (*flips, inverted)
    for flips, ops in _AND_OPS.items()
    for inverted, op in enumerate(ops)
}
"""Of an op that is an AND: whether to invert its first input, its second one, and the gate."""


class Literals(Logic[int]):
    """A graph that grows by ANDs and XORs of literals: inverters and constants cost nothing."""

    def constant(self, bit: int) -> int:
        return bit

    def not_(self, x: int) -> int:
        return x ^ 1

    def gate(self, kind: int, x: int, y: int) -> int:
        flips = _FLIPS.get(kind)
        if flips is None:
            return OPS[kind](self, x, y)
        # The same without a call for each inverter, as searches build a million graphs.
        flip_x, flip_y, flip = flips
        return self.and_(x ^ flip_x, y ^ flip_y) ^ flip

    def next_state(
        self, circuit: Circuit, inputs: Iterable[int], deadline: Deadline = NEVER
    ) -> list[int]:
        """Add a circuit that reads the literals `inputs`; return the literals of its outputs.

        Raises TimeoutError if `deadline` passes before that.
        """
        rows = evaluate(circuit, inputs, self, pause=deadline.check)
        return [rows[row] for row in circuit.outputs.tolist()]


class Xag(Literals):
    """A growing circuit over a fixed number of inputs.

    Gate g is node 1 + inputs + g; its kind and its two literals stand in `kind`, `x` and `y`.
    XORs read literals that are not inverted. No two gates are equal.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.kind: list[Kind] = []
        self.x: list[int] = []
        self.y: list[int] = []
        self._known: dict[tuple[Kind, int, int], int] = {}

    @property
    def first_gate(self) -> int:
        """The node of gate 0."""
        return 1 + self.inputs

    @property
    def nodes(self) -> int:
        return self.first_gate + len(self.kind)

    def input(self, row: int) -> int:
        """Return the literal of an input row."""
        return 2 * (1 + row)

    def and_(self, x: int, y: int) -> int:
        if x > y:
            x, y = y, x
        if x == FALSE or x ^ y == 1:
            return FALSE
        if x in (TRUE, y):
            return y
        return self._add(Kind.AND, x, y)

    def xor_(self, x: int, y: int) -> int:
        inverted = (x ^ y) & 1
        x, y = x & ~1, y & ~1
        if x > y:
            x, y = y, x
        if x == y:
            return inverted
        if x == FALSE:
            return y ^ inverted
        return self._add(Kind.XOR, x, y) ^ inverted

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Each gate's op, and the nodes that it reads, as `evaluate` asks; node 0 is given, too."""
        pairs = zip(self.kind, self.x, self.y, strict=True)
        ops = [_OPS[kind, x & 1, y & 1] for kind, x, y in pairs]
        return ops, [x >> 1 for x in self.x], [y >> 1 for y in self.y]

    def cone(self, literals: Sequence[int]) -> list[int]:
        """Return the nodes that literals depend on by their wires, ascending, but constant 0."""
        seen = {literal >> 1 for literal in literals}
        waiting = list(seen)
        while waiting:
            gate = waiting.pop() - self.first_gate
            if gate < 0:
                continue
            for literal in (self.x[gate], self.y[gate]):
                if literal >> 1 not in seen:
                    seen.add(literal >> 1)
                    waiting.append(literal >> 1)
        return sorted(seen - {0})

    def _add(self, kind: Kind, x: int, y: int) -> int:
        found = self._known.get((kind, x, y))
        if found is not None:
            return found
        literal = self._known[kind, x, y] = 2 * self.nodes
        self.kind.append(kind)
        self.x.append(x)
        self.y.append(y)
        return literal


def from_circuit(circuit: Circuit) -> tuple[Xag, list[int]]:
    """Return a circuit as a Xag, and the literals of its outputs."""
    xag = Xag(circuit.inputs)
    return xag, xag.next_state(circuit, map(xag.input, range(circuit.inputs)))


def to_circuit(
    xag: Xag, outputs: Sequence[int], labels: tuple[int, ...], channels: Sequence[int]
) -> Circuit:
    """Return the gates that `outputs` need as a circuit of two-input ops.

    `outputs` are the literals of the channels that stay, which are the numbers `channels` of the
    Xag's; their labels are `labels`. Inverters melt into the ops of what they stand before or
    behind; only an output that is an inverted input, or inverted and elsewhere not, keeps one.
    Raises ValueError if an output depends on a channel that does not stay.
    """
    first, before = 1 + NEIGHBORHOOD * len(channels), xag.inputs // NEIGHBORHOOD
    place = {0: 0} | {
        1 + neighbor * before + channel: 1 + neighbor * len(channels) + number
        for neighbor in range(NEIGHBORHOOD)
        for number, channel in enumerate(channels)
    }
    ops, wires = [0] * first, [(0, 0)] * first
    gates, x, y = xag.lists
    for node in xag.cone(outputs):
        gate = node - xag.first_gate
        if gate >= 0:
            place[node] = len(ops)
            ops.append(gates[gate])
            wires.append((place[x[gate]], place[y[gate]]))
        elif node not in place:
            channel = (node - 1) % before
            raise ValueError(f"an output reads channel {channel}, which does not stay")
    a, b = np.array(wires, np.int32).T
    literals = np.array([2 * place[each >> 1] | each & 1 for each in outputs], np.int32)
    return melted(np.array(ops, np.uint8), a, b, first, literals, labels)
