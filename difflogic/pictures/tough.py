"""Places that hold up: each cell's row and column, told by three neighbours and itself.

A cell's column is its left neighbour's plus one; its upper and lower neighbours, and the cell
itself, have the same. They vote by bits, and the left one has two votes of five. So an island of
wrong cells, whatever they hold, shrinks from the ends of its first column, and no cell outside a
square of them is outvoted. A neighbour that does not know its place, or lies beyond the edge,
votes as the cell does. Rows are told in the same way, with the upper neighbour in the left one's
part. Source: Toom 1980, "Stable and attractive trajectories in multicomponent systems", whose rule
has one vote each for north, west and the cell.

A cell that does not know its place takes its left neighbour's word, or else the upper or the lower
one's. It knows its place in the next step if at least two of these three and itself know theirs. An
edge counts as a neighbour that knows, so that places spread from the corners. A cell is at an edge
if the three cells there were never alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from difflogic.circuit.gates import PASS_THROUGH, Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.circuit.layer import Layer, levels_of, staged
from difflogic.system.errors import ConfigError

FLAGS = 3
"""Channels before the place's bits: alive, row known, column known."""

SIDES = {"N": ("NW", "NE"), "W": ("NW", "SW"), "E": ("NE", "SE"), "S": ("SW", "SE")}
"""For each side of a cell, the other two neighbours there."""

Add = Callable[..., int]
"""Adds a gate: op and rows to read."""

Known = tuple[int, Sequence[int]]
"""The row that says whether a cell knows its number, and those of the number's bits."""


@lru_cache
def voting_layers(rows: int, columns: int, layers: int) -> tuple[Layer, ...]:
    """Return layers of gates for bits of rows and columns; the last has the next FLAGS and bits.

    Inputs are the same channels of the nine cells. Raises ConfigError if the layers are too few.
    """
    channels = FLAGS + rows + columns
    inputs = len(NEIGHBORS) * channels
    gates = list[tuple[int, int, int]]()

    def add(op: Op, a: int, b: int | None = None) -> int:
        gates.append((op, a, a if b is None else b))
        return inputs + len(gates) - 1

    outputs = np.array(_next(add, rows, channels))
    made = Layer(*np.array(gates).T)
    least = 1 + int(levels_of(inputs, made.a, made.b)[outputs].max())
    if layers < least:
        raise ConfigError(
            f"[update] gates: tough places of {rows} and {columns} bits need {least} layers or more"
        )
    found, last = staged(inputs, made, outputs, layers - 1)
    return (*found, Layer(np.full(channels, PASS_THROUGH), last, last))


def _next(add: Add, rows: int, channels: int) -> list[int]:
    """Add the gates of a cell's next channels, and return their rows."""
    first = {name: number * channels for number, name in enumerate(NEIGHBORS)}
    ends = (FLAGS, FLAGS + rows, channels)

    def known(name: str, way: int) -> Known:
        start = first[name]
        return start + 1 + way, range(start + ends[way], start + ends[way + 1])

    edges = {}
    for side, others in SIDES.items():
        seen = first[side]
        for other in others:
            seen = add(Op.OR, seen, first[other])
        edges[side] = add(Op.A_AND_NOT_B, first["C"], seen)
    found = []
    for way, voters in enumerate((("N", "W", "E"), ("W", "N", "S"))):
        told = [known(name, way) for name in voters]
        found.append(_vote(add, known("C", way), told, [edges[name] for name in voters]))
    (row_known, row), (column_known, column) = found
    return [add(Op.TRUE, first["C"]), row_known, column_known, *row, *column]


def _vote(
    add: Add, own: Known, voters: Sequence[Known], edges: Sequence[int]
) -> tuple[int, list[int]]:
    """Return whether a cell knows its number next, and its bits: 0 if it does not.

    The first of the three voters has the number before it, the others have the same.
    """
    behind, one, other = voters
    told = add(Op.OR, behind[0], edges[0])
    beside = [add(Op.OR, side[0], edge) for side, edge in zip((one, other), edges[1:], strict=True)]
    known = _two_of(add, own[0], told, *beside)
    # Beyond the edge all is 0, and so the first cell is 1. Who knows nothing has zeros, too.
    word = [add(Op.A_AND_NOT_B, told, behind[1][0])] if behind[1] else []
    carry = behind[1][:1]
    for bit in behind[1][1:]:
        word.append(add(Op.XOR, bit, *carry))
        carry = [add(Op.AND, bit, *carry)]

    def if_told(flag: int, bit: int, else_bit: int) -> int:
        """Return a bit that is 0 unless its flag is 1, or else another bit."""
        return add(Op.OR, bit, add(Op.NOT_A_AND_B, flag, else_bit))

    found = []
    for mine, left, above, below in zip(own[1], word, one[1], other[1], strict=True):
        filled = if_told(told, left, add(Op.OR, above, below))
        voter = if_told(own[0], mine, filled)
        first = if_told(one[0], above, voter)
        second = if_told(other[0], below, voter)
        some = add(Op.OR, voter, add(Op.OR, first, second))
        every = add(Op.AND, voter, add(Op.AND, first, second))
        voted = add(Op.OR, every, add(Op.AND, some, if_told(told, left, voter)))
        found.append(add(Op.AND, voted, known))
    return known, found


def _two_of(add: Add, a: int, b: int, c: int, d: int) -> int:
    """Return whether two of four rows are 1, or more."""
    one = add(Op.AND, add(Op.OR, a, b), add(Op.OR, c, d))
    return add(Op.OR, one, add(Op.OR, add(Op.AND, a, b), add(Op.AND, c, d)))
