"""Shared decision diagrams: small circuits for functions of few bits, from their whole tables.

A diagram asks one bit after the other, and equal questions that remain are asked once, by all
outputs together. Where the bits are rows and columns, halved again and again, equal blocks of a
picture share their gates.

Source: Bryant 1986, "Graph-Based Algorithms for Boolean Function Manipulation"; inverted edges:
Brace, Rudell and Bryant 1990.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.gates import Op
from difflogic.system.array_types import Bits, Flags, Ints
from difflogic.system.work import may_cancel

ANY_VALUE = -1
"""Stands in a table for a value that does not matter."""

CONSTANT = -1
"""Stands for a row that holds 0 everywhere."""

ROW = 28
"""Bits of a row's number."""


@dataclass(frozen=True)
class DecisionDiagram:
    """Gates in topological order. Rows are the input bits, then the gates."""

    inputs: int
    op: Bits
    a: Ints
    b: Ints
    outputs: Ints
    """The row of each output, or CONSTANT."""
    inverted: Flags
    """Whether each output is the opposite of its row."""

    @property
    def gates(self) -> int:
        return len(self.op)


def smallest_diagram(table: Ints, groups: Sequence[Sequence[int]]) -> DecisionDiagram:
    """Return a small diagram of `table`, shape (outputs, 2 ** inputs), of 0, 1 and ANY_VALUE.

    Bit j of a column's number is input j. The order of questions decides the size: tries to ask
    each of the `groups` of inputs as a whole or by turns, then exchanges neighbours while it helps.
    """
    shape = (2,) * int(table.shape[1]).bit_length()
    cube = table.astype(np.int64).reshape(len(table), *shape[1:])
    tried = {order: _build(cube, order) for order in dict.fromkeys(_orders(groups))}
    order = min(tried, key=lambda each: tried[each].gates)
    best = tried[order]
    improves = True
    while improves:
        improves = False
        for place in range(len(order) - 1):
            other = (*order[:place], order[place + 1], order[place], *order[place + 2 :])
            found = _build(cube, other)
            if found.gates < best.gates:
                best = found
                order = other
                improves = True
    return best


def _orders(groups: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield orders of two groups: a few bits of one, then the other one, or in turns."""
    for first, second in (groups, groups[::-1]):
        for kept in range(len(first) + 1):
            yield (*first[:kept], *second, *first[kept:])
        pairs = [(*first[k : k + 1], *second[k : k + 1]) for k in range(len(first) + len(second))]
        yield tuple(bit for pair in pairs for bit in pair)


def _build(cube: Ints, order: Sequence[int]) -> DecisionDiagram:
    """Return the diagram that asks inputs in this `order`; axis 1 of `cube` is the highest input.

    From the last question up, a literal is twice a node, plus one if inverted; node 0 is constant
    0. Each level joins literals in pairs, and equal pairs become one node.
    """
    may_cancel()
    inputs = len(order)
    gates = _Gates(inputs)
    values = cube.transpose(0, *(inputs - bit for bit in order)).ravel()
    rows = np.array([CONSTANT])
    for bit in reversed(order):
        low = values[0::2]
        high = values[1::2]
        low, high = np.where(low == ANY_VALUE, high, low), np.where(high == ANY_VALUE, low, high)
        # A node and its opposite are one: the literal of low is never inverted.
        inverted = np.where(low == ANY_VALUE, 0, low & 1)
        low, high = low ^ inverted, high ^ inverted
        differ = low != high
        pairs, back = np.unique(low[differ] << ROW | high[differ], return_inverse=True)
        values = low.copy()
        values[differ] = 2 * (len(rows) + back)
        values ^= inverted
        rows = np.concatenate([rows, gates.choose(bit, pairs >> ROW, pairs % (1 << ROW), rows)])
    values = np.maximum(values, 0)
    op, a, b = gates.arrays
    return DecisionDiagram(inputs, op.astype(np.uint8), a, b, rows[values >> 1], (values & 1) == 1)


class _Gates:
    """A growing list of gates; equal ones that are added together become one."""

    def __init__(self, inputs: int) -> None:
        self._rows = inputs
        self._keys = [np.empty(0, np.int64)]

    def choose(self, bit: int, low: Ints, high: Ints, rows: Ints) -> Ints:
        """Return the row of each node, which is `high` if the input is 1, else `low`.

        `low` and `high` are literals of nodes with the given `rows`.
        """
        found = np.full(len(low), bit)
        own = rows[low >> 1]
        other = rows[high >> 1]
        alone = (low > 0) & ((high == low + 1) | (high == 1))
        below = (low > 0) & ~alone
        above = (high > 1) & ~alone
        single = np.where(high == 1, Op.OR, Op.XOR)[alone]
        product = np.where(high & 1, Op.A_AND_NOT_B, Op.AND)[above]
        op = np.concatenate([single, np.full(below.sum(), Op.NOT_A_AND_B), product])
        b = np.concatenate([own[alone], own[below], other[above]])
        added = self._add(op, np.full(len(op), bit), b)
        left, right = np.zeros((2, len(low)), np.int64)
        found[alone], left[below], right[above] = np.split(
            added, [len(single), len(op) - len(product)]
        )
        found[below], found[above] = left[below], right[above]
        both = below & above
        found[both] = self._add(np.full(both.sum(), Op.OR), left[both], right[both])
        return found

    def _add(self, op: Ints, a: Ints, b: Ints) -> Ints:
        """Return the rows of new gates."""
        keys, place = np.unique(op << 2 * ROW | a << ROW | b, return_inverse=True)
        self._keys.append(keys)
        first, self._rows = self._rows, self._rows + len(keys)
        return np.asarray(first + place)

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """Op and rows a and b of each gate."""
        keys = np.concatenate(self._keys)
        return keys >> 2 * ROW, keys >> ROW & (1 << ROW) - 1, keys & (1 << ROW) - 1
