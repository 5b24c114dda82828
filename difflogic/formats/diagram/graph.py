"""The nodes and wires of a circuit's picture, without places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from difflogic.circuit.automaton import Automaton, places
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import READS, SYMBOLS, Op
from difflogic.system.errors import CircuitError

MOST_DRAWN_NODES = 20_000
"""Larger pictures would be useless, and take minutes to lay out."""


class NodeKind(Enum):
    """A kind of node: its name and sign in the legend, and its colours.

    The fills are tints of Okabe and Ito's colour-blind-safe palette of 2008, the strokes darker
    shades. Nodes show their signs, so they can be read without colours.
    """

    INPUT = ("cell NW, channel 0", "NW0", "#f2f2f2", "#6b6b6b")
    AND = ("and", "∧", "#a6d5f2", "#0072b2")
    OR = ("or", "∨", "#f7cf7a", "#a86b00")
    XOR = ("exclusive or", "⊕", "#8fd9bf", "#007a58")
    INVERTER = ("inverter", "¬", "#ffffff", "#444444")
    COPY = ("copy", "=", "#ffffff", "#444444")
    CONSTANT = ("constant", "0 1", "#f6ee9a", "#7d7400")
    OUTPUT = ("channel 0's next state", "n0'", "#ead0e0", "#96386f")

    def __init__(self, title: str, sign: str, fill: str, stroke: str) -> None:
        self.title = title
        self.sign = sign
        self.fill = fill
        self.stroke = stroke

    @property
    def is_named(self) -> bool:
        """Whether nodes show their own names instead of a sign."""
        return self in (NodeKind.INPUT, NodeKind.OUTPUT)


@dataclass(frozen=True)
class Node:
    """Something with a label; `inverted` puts a circle at its output."""

    kind: NodeKind
    label: str
    about: str
    """One line, shown when someone points at it."""
    inverted: bool = False
    visible: bool = False
    """Whether it is the next state of a visible channel."""
    row: int = 0
    """The row of the circuit with its value."""


@dataclass(frozen=True)
class Wire:
    """From node `source` to node `target`; `inverted` puts a circle at its end."""

    source: int
    target: int
    inverted: bool = False


@dataclass(frozen=True)
class Drawing:
    """Inputs first, then gates in topological order, then outputs."""

    automaton: Automaton
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]

    @property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds of nodes that occur."""
        present = {node.kind for node in self.nodes}
        return tuple(kind for kind in NodeKind if kind in present)

    @property
    def inverts(self) -> bool:
        """Whether any circle occurs."""
        return any(n.inverted for n in self.nodes) or any(w.inverted for w in self.wires)


DRAWN = {
    # Family; whether a, b and the result are inverted.
    Op.FALSE: (NodeKind.CONSTANT, False, False, False),
    Op.AND: (NodeKind.AND, False, False, False),
    Op.A_AND_NOT_B: (NodeKind.AND, False, True, False),
    Op.A: (NodeKind.COPY, False, False, False),
    Op.NOT_A_AND_B: (NodeKind.AND, True, False, False),
    Op.B: (NodeKind.COPY, False, False, False),
    Op.XOR: (NodeKind.XOR, False, False, False),
    Op.OR: (NodeKind.OR, False, False, False),
    Op.NOR: (NodeKind.OR, False, False, True),
    Op.XNOR: (NodeKind.XOR, False, False, True),
    Op.NOT_B: (NodeKind.INVERTER, False, False, False),
    Op.A_OR_NOT_B: (NodeKind.OR, False, True, False),
    Op.NOT_A: (NodeKind.INVERTER, False, False, False),
    Op.NOT_A_OR_B: (NodeKind.OR, True, False, False),
    Op.NAND: (NodeKind.AND, False, False, True),
    Op.TRUE: (NodeKind.CONSTANT, False, False, False),
}


def diagram(automaton: Automaton, channels: Sequence[int] | None = None) -> Drawing:
    """Return the nodes and wires with a path to the next states of `channels` (labels; all).

    Raises CircuitError for more than MOST_DRAWN_NODES.
    """
    circuit = automaton.circuit
    drawn = range(circuit.channels) if channels is None else places(circuit, tuple(channels))
    needed = circuit.needed(drawn)
    count = int(needed.sum()) + len(drawn)
    if count > MOST_DRAWN_NODES:
        raise CircuitError(
            f"{automaton.name}: a picture of {count} inputs, gates and outputs is too large "
            f"(at most {MOST_DRAWN_NODES}): simplify the circuit first"
        )
    nodes: list[Node] = []
    wires: list[Wire] = []
    numbers: dict[int, int] = {}
    for row in range(circuit.rows):
        if not needed[row]:
            continue
        numbers[row] = len(nodes)
        if row < circuit.inputs:
            name = circuit.input_name(row)
            nodes.append(Node(NodeKind.INPUT, name, f"input {name}", row=row))
            continue
        gate = row - circuit.inputs
        op = Op(circuit.op[gate])
        a = int(circuit.a[gate])
        b = int(circuit.b[gate])
        kind, *inverted, result = DRAWN[op]
        sign = SYMBOLS[op] if kind is NodeKind.CONSTANT else kind.sign
        reads = [
            Wire(numbers[source], numbers[row], flipped)
            for source, flipped, read in zip((a, b), inverted, READS[op], strict=True)
            if read
        ]
        nodes.append(Node(kind, sign, _about(circuit, gate), result, row=row))
        wires += reads
    for channel in drawn:
        row = int(circuit.outputs[channel])
        label = circuit.labels[channel]
        visible = label in automaton.visible
        about = f"next state of channel {label}{', visible' if visible else ''}"
        wires.append(Wire(numbers[row], len(nodes)))
        nodes.append(Node(NodeKind.OUTPUT, f"n{label}'", about, visible=visible, row=row))
    return Drawing(automaton, tuple(nodes), tuple(wires))


def _about(circuit: Circuit, gate: int) -> str:
    """Return a line such as: gate 3: a∧¬b, a = NW0, b = gate 1."""
    op = int(circuit.op[gate])
    parts = [f"gate {gate}: {SYMBOLS[op]}"]
    for name, row, read in zip("ab", (circuit.a[gate], circuit.b[gate]), READS[op], strict=True):
        if read:
            source = (
                circuit.input_name(row) if row < circuit.inputs else f"gate {row - circuit.inputs}"
            )
            parts.append(f"{name} = {source}")
    return ", ".join(parts)
