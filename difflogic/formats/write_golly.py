"""A rule for Golly, of an automaton of up to eight channels.

The bits of a state are the channels that affect visible ones. The rule is a tree, Golly's decision
diagram with equal nodes merged, because a tree is complete: with a rule table, cells that no line
fits would keep their state. It comes from binary decision diagrams of the channels, since 256
states have too many neighbourhoods to list.

Sources: Golly's help, "File formats", on .rule files and their @TREE section; Bryant 1986,
"Graph-Based Algorithms for Boolean Function Manipulation".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from difflogic.circuit.automaton import Automaton, live_channels
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Logic, evaluate
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.formats.notation import rendered
from difflogic.system.errors import CircuitError
from difflogic.version import __version__

ORDER = ("NW", "NE", "SW", "SE", "N", "W", "E", "S", "C")
"""The order of cells in a tree, from the root."""
MOST_GOLLY_CHANNELS = 8
"""Golly's states are at most 256."""
MOST_DIAGRAM_STEPS = 2**17
MOST_NODE_NUMBERS = 2**20
"""Steps of making diagrams, and numbers in all nodes: a few seconds and megabytes."""


def write_golly(automaton: Automaton, file: str | None = None) -> str:
    """Return a .rule file. Its name must be `file`, by default the automaton's, capitalised.

    Raises CircuitError if Golly cannot run the automaton, or the name is not valid for Golly.
    """
    name = automaton.name[0].upper() + automaton.name[1:]
    name = name if file is None else file.removesuffix(".rule")
    if not re.fullmatch("[A-Za-z0-9_-]+", name):
        raise CircuitError(
            f'"{name}" is not a valid rule name for Golly: use only letters, digits, - and _ '
            "in the file name, such as Life.rule"
        )
    live = np.flatnonzero(live_channels(automaton.circuit, automaton.visible)).tolist()
    if len(live) > MOST_GOLLY_CHANNELS:
        raise CircuitError(
            f"{len(live)} channels affect the visible ones, and Golly has states for "
            f"{MOST_GOLLY_CHANNELS} at most: simplify the circuit, or export another format, as "
            "c or verilog"
        )
    tree = _Tree(automaton.circuit, live)
    if tree.quiet:
        raise CircuitError(
            "a dead cell with no living neighbours comes to life, but Golly skips empty regions "
            "and would run this rule wrongly: export another format"
        )
    nodes = tree.nodes
    states = tree.states
    labels = [automaton.circuit.labels[channel] for channel in live]
    meaning = f"1 is alive: its channel {labels[0]}."
    if len(live) > 1:
        meaning = f"A state's bits, lowest first: channels {', '.join(map(str, labels))}."
    colours = automaton.palette if tuple(labels) == automaton.visible else ()
    return rendered(
        "formats/write_golly",
        automaton,
        rule=name,
        version=__version__,
        meaning=meaning,
        states=states,
        neighbors=NEIGHBORHOOD - 1,
        nodes=nodes,
        colours=colours[:states],
    )


class _Diagrams(Logic[int]):
    """Functions of bits as nodes (bit, node if 0, node if 1). Nodes 0 and 1 are the constants."""

    def __init__(self, bits: int) -> None:
        self.nodes: list[tuple[int, int, int]] = [(bits, 0, 0), (bits, 1, 1)]
        self._known: dict[tuple[int, int, int], int] = {}
        self._made: dict[tuple[Op, int, int], int] = {}

    def node(self, bit: int, zero: int, one: int) -> int:
        """Return the node that branches on a bit."""
        if zero == one:
            return zero
        found = self._known.setdefault((bit, zero, one), len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append((bit, zero, one))
        return found

    def constant(self, bit: int) -> int:
        return bit

    def not_(self, x: int) -> int:
        return self._apply(Op.XOR, 1, x)

    def and_(self, x: int, y: int) -> int:
        return self._apply(Op.AND, x, y)

    def xor_(self, x: int, y: int) -> int:
        return self._apply(Op.XOR, x, y)

    def _apply(self, op: Op, x: int, y: int) -> int:
        if x > y:
            x, y = y, x
        if op is Op.AND and x < 2:
            return y if x else 0
        if op is Op.XOR and (x == 0 or x == y):
            return 0 if x else y
        key = op, x, y
        if key not in self._made:
            bit = min(self.nodes[x][0], self.nodes[y][0])
            halves = (
                self._apply(op, self.follow(x, bit, value), self.follow(y, bit, value))
                for value in (0, 1)
            )
            self._made[key] = self.node(bit, *halves)
            if len(self._made) > MOST_DIAGRAM_STEPS:
                raise _too_large()
        return self._made[key]

    def follow(self, node: int, bit: int, value: int) -> int:
        """Return a function for a known value of a bit. It must not read earlier bits."""
        return self.nodes[node][1 + value] if self.nodes[node][0] == bit else node


class _Tree:
    """Golly's tree of the rule of the channels `live`: its number of states, and its nodes.

    A node is its depth and a child for each state of a cell: a next state at depth 1, otherwise a
    node one level deeper in the list. The root comes last.
    """

    def __init__(self, circuit: Circuit, live: Sequence[int]) -> None:
        bits = len(live)
        self._diagrams = _Diagrams(NEIGHBORHOOD * bits)
        inputs = [0] * circuit.inputs
        for place, neighbor in enumerate(ORDER):
            for bit, channel in enumerate(live):
                row = NEIGHBORS.index(neighbor) * circuit.channels + channel
                inputs[row] = self._diagrams.node(place * bits + bit, 0, 1)
        rows = evaluate(circuit, inputs, self._diagrams)
        outputs = tuple(rows[circuit.outputs[channel]] for channel in live)
        self._bits = bits
        self.states = 2**bits
        self._build(outputs)
        # Leave out the states above the highest that can follow.
        self.states = max(2, 1 + max(max(node[1:]) for node in self.nodes if node[0] == 1))
        self._build(outputs)

    def _build(self, outputs: tuple[int, ...]) -> None:
        self.nodes: list[tuple[int, ...]] = []
        self._known: dict[tuple[int, ...], int] = {}
        self._made: dict[tuple[int, tuple[int, ...]], int] = {}
        self._node(0, outputs)

    def _node(self, place: int, functions: tuple[int, ...]) -> int:
        """Return the node that branches on the cell at a place of ORDER."""
        if place == NEIGHBORHOOD:
            return sum(value << bit for bit, value in enumerate(functions))
        key = place, functions
        if key not in self._made:
            ways = [
                self._node(place + 1, self._at(state, place, functions))
                for state in range(self.states)
            ]
            node = (NEIGHBORHOOD - place, *ways)
            if len(self.nodes) * self.states > MOST_NODE_NUMBERS:
                raise _too_large()
            self._made[key] = self._known.setdefault(node, len(self.nodes))
            if self._made[key] == len(self.nodes):
                self.nodes.append(node)
        return self._made[key]

    def _at(self, state: int, place: int, functions: tuple[int, ...]) -> tuple[int, ...]:
        """Return functions for a known state of a cell."""
        for bit in range(self._bits):
            row = place * self._bits + bit
            value = state >> bit & 1
            functions = tuple(self._diagrams.follow(each, row, value) for each in functions)
        return functions

    @property
    def quiet(self) -> int:
        """The next state if all cells are 0."""
        at = len(self.nodes) - 1
        for _ in ORDER:
            at = self.nodes[at][1]
        return at


def _too_large() -> CircuitError:
    return CircuitError("the rule's tree is too large for Golly: export another format")
