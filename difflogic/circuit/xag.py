"""Circuits of ANDs and XORs with inverters on the edges and no equal gates, for rewriting.

Node 0 is constant 0, then come the inputs, then the gates. A *literal* is twice a node's number,
plus one if it is inverted. Each of the 16 ops is an AND or a XOR of literals, inverted or not.
De Morgan's laws, double inverters and equal gates vanish as a circuit is built.

Source: structural hashing as in and-inverter graphs (Mishchenko, Chatterjee and Brayton 2006,
"DAG-aware AIG rewriting"), with XOR as a second kind of node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np

from difflogic.circuit.circuit import Circuit, reached
from difflogic.circuit.evaluate import OP_FUNCTIONS, Logic, evaluate
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.system.array_types import Bits, Int32s, Ints

FALSE = 0
TRUE = 1
"""The constant literals."""


class XagGate(IntEnum):
    """What a gate of a Xag computes."""

    AND = 0
    XOR = 1


_FLIPS: dict[int, tuple[int, int, int]] = {
    Op.AND: (0, 0, 0),
    Op.NAND: (0, 0, 1),
    Op.A_AND_NOT_B: (0, 1, 0),
    Op.NOT_A_OR_B: (0, 1, 1),
    Op.NOT_A_AND_B: (1, 0, 0),
    Op.A_OR_NOT_B: (1, 0, 1),
    Op.NOR: (1, 1, 0),
    Op.OR: (1, 1, 1),
}
"""For each op that is an AND: whether its first input, its second one and its result invert."""
_ANDS = {(x, y): int(op) for op, (x, y, inverted) in _FLIPS.items() if not inverted}
"""The op of an AND, by whether its first and second literals are inverted."""

_WITH_A_INVERTED = np.array([(op & 3) << 2 | op >> 2 for op in Op], np.uint8)
_WITH_B_INVERTED = np.array([(op & 5) << 1 | op >> 1 & 5 for op in Op], np.uint8)
"""For each op the one that computes the same from an inverted input."""


class Xag(Logic[int]):
    """A growing circuit over a fixed number of inputs. Inverters and constants cost nothing.

    Gate g is node 1 + inputs + g, with its kind and its two literals in `kind`, `x` and `y`. The
    literals of a XOR are not inverted. No two gates are equal.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.kind: list[XagGate] = []
        self.x: list[int] = []
        self.y: list[int] = []
        self._known: dict[tuple[XagGate, int, int], int] = {}

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
        return self._add(XagGate.AND, x, y)

    def xor_(self, x: int, y: int) -> int:
        inverted = (x ^ y) & 1
        x, y = x & ~1, y & ~1
        if x > y:
            x, y = y, x
        if x == y:
            return inverted
        if x == FALSE:
            return y ^ inverted
        return self._add(XagGate.XOR, x, y) ^ inverted

    def constant(self, bit: int) -> int:
        return bit

    def not_(self, x: int) -> int:
        return x ^ 1

    def gate(self, kind: int, x: int, y: int) -> int:
        flips = _FLIPS.get(kind)
        if flips is None:
            literal: int = OP_FUNCTIONS[kind](self, x, y)
            return literal
        # Faster than OP_FUNCTIONS, which call a method per inverter: searches build many graphs.
        flip_x, flip_y, flip = flips
        return self.and_(x ^ flip_x, y ^ flip_y) ^ flip

    def next_state(self, circuit: Circuit, inputs: Iterable[int]) -> list[int]:
        """Add a circuit that reads the literals `inputs`; return the literals of its outputs."""
        rows = evaluate(circuit, inputs, self)
        return [rows[row] for row in circuit.outputs.tolist()]

    def any_of(self, numbers: Iterable[int], bits: Sequence[int]) -> int:
        """Return a literal: `bits`, lowest first, are one of these numbers."""
        found = FALSE
        for number in numbers:
            equal = TRUE
            for place, bit in enumerate(bits):
                equal = self.and_(equal, bit ^ 1 ^ number >> place & 1)
            found = self.or_(found, equal)
        return found

    def count_ones(self, literals: Sequence[int]) -> list[int]:
        """Return the number of literals that are 1, as binary digits, lowest first."""
        digits = []
        column = list(literals)
        while column:
            carries = []
            while len(column) > 1:
                # A full adder: three bits of one weight give one of it and one of the next.
                x, y, *column = column
                z = column.pop(0) if column else FALSE
                half = self.xor_(x, y)
                column.append(self.xor_(half, z))
                if z == FALSE:
                    carries.append(self.and_(x, y))
                else:
                    carries.append(self.xor_(x, self.and_(half, self.xor_(x, z))))
            digits.append(column[0])
            column = carries
        return digits

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Each gate's op and two nodes, as `evaluate` needs them. Node 0 is an input."""
        pairs = zip(self.kind, self.x, self.y, strict=True)
        ops = [_ANDS[x & 1, y & 1] if kind is XagGate.AND else int(Op.XOR) for kind, x, y in pairs]
        return ops, [x >> 1 for x in self.x], [y >> 1 for y in self.y]

    def cone(self, literals: Sequence[int]) -> list[int]:
        """Return the nodes with a path to the literals, ascending, without constant 0."""
        x, y, nodes = ([each >> 1 for each in some] for some in (self.x, self.y, literals))
        found = np.flatnonzero(reached(self.first_gate, x, y, nodes)[1:])
        return [1 + node for node in found.tolist()]

    def _add(self, kind: XagGate, x: int, y: int) -> int:
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

    `channels` are the places of the channels to keep, `outputs` their literals and `labels` their
    labels. Inverters become part of the ops, as in `absorb_inverters`. Raises ValueError if an
    output depends on another channel.
    """
    first = 1 + NEIGHBORHOOD * len(channels)
    before = xag.inputs // NEIGHBORHOOD
    place = {0: 0} | {
        1 + neighbor * before + channel: 1 + neighbor * len(channels) + number
        for neighbor in range(NEIGHBORHOOD)
        for number, channel in enumerate(channels)
    }
    ops = [0] * first
    wires = [(0, 0)] * first
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
    return absorb_inverters(np.array(ops, np.uint8), a, b, first, literals, labels)


def absorb_inverters(
    op: Bits, a: Int32s, b: Int32s, first: int, outputs: Ints, labels: Sequence[int]
) -> Circuit:
    """Return a graph as a circuit, with the inverters at its outputs absorbed into the ops.

    Node 0 is constant 0, then come the inputs of all channels with `labels`; gates begin at node
    `first`. `op`, `a` and `b` have an entry for each node; `outputs` are literals. A gate that only
    inverted outputs read computes its inverse. Constant outputs, inverted inputs, and nodes read
    both inverted and not each get one more gate at the end.
    """
    wanted = outputs >> 1
    inverses = (outputs & 1).astype(np.bool_)
    inverted = np.zeros(len(op), np.bool_)
    inverted[wanted[inverses]] = True
    inverted[wanted[~inverses]] = False
    inverted[:first] = False
    op = np.where(inverted[a], _WITH_A_INVERTED[op], op)
    op = np.where(inverted[b], _WITH_B_INVERTED[op], op)
    op = np.where(inverted, len(Op) - 1 - op, op)[first:]
    further: dict[tuple[int, int], int] = {}
    nodes = []
    for literal in outputs.tolist():
        node = literal >> 1
        if (node and not literal & 1) or inverted[node]:
            nodes.append(node)
            continue
        constant = Op.TRUE if literal else Op.FALSE
        gate = (Op.NOT_A, node) if node else (constant, 1)
        nodes.append(further.setdefault(gate, first + len(op) + len(further)))
    ops, reads = np.array([*further], np.int32).reshape(-1, 2).T
    a, b = (np.concatenate([wires[first:], reads]) - 1 for wires in (a, b))
    op = np.concatenate([op, ops.astype(np.uint8)])
    return Circuit(op, a, b, np.array(nodes, np.int32) - 1, tuple(labels))
