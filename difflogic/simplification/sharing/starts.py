"""Circuits built anew so that neighbouring cells can share: other places to begin a search from.

Expansions take the inputs in the order of the cells, so that what is the same at another cell is
built the same. Inputs that may be exchanged are counted row by row, or column by column, together
with those of the neighbourhood that fill the rows up: sums of whole rows are shared by cells above
each other, and their part in the result is taken away again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from difflogic.circuit.cases import words, words_of
from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.simplification.resynthesis import (
    FEWEST_TO_COUNT,
    Expansion,
    count_ones,
    exchangeable,
    starts,
)

MOST_INPUTS = 12
"""That a circuit may read to be built anew, out of truth tables."""


def built_anew(circuit: LogicCircuit) -> Iterator[LogicCircuit]:
    """Yield circuits that do the same; none if it reads too many inputs."""
    inputs = circuit.read_inputs.tolist()
    if not 0 < len(inputs) <= MOST_INPUTS:
        return
    tables = _tables(circuit, inputs)
    for start in starts(tables, len(inputs)):
        yield _circuit(circuit, inputs, start.xag, start.outputs)
    groups = [g for g in exchangeable(tables, len(inputs)) if len(g) >= FEWEST_TO_COUNT]
    for by_columns in (False, True):
        for davio in (False, True):
            if groups:
                yield _counted(circuit, inputs, tables, groups, by_columns, davio)


def _tables(circuit: LogicCircuit, inputs: Sequence[int]) -> list[int]:
    """Return the truth tables of the next states over the inputs that are read, as integers."""
    count = words_of(len(inputs))
    rows = np.zeros((circuit.inputs, count), np.uint64)
    for number, row in enumerate(inputs):
        rows[row] = words(number, 0, count)
    every = (1 << (1 << len(inputs))) - 1
    states = circuit.next_state(rows)
    return [int.from_bytes(state.astype("<u8").tobytes(), "little") & every for state in states]


def _circuit(
    circuit: LogicCircuit, inputs: Sequence[int], xag: Xag, outputs: Sequence[int]
) -> LogicCircuit:
    """Return a Xag over the inputs that are read as a circuit over all."""
    whole = Xag(circuit.inputs)
    literals = [0, *(whole.input(row) for row in inputs)]
    for kind, x, y in zip(xag.kind, xag.x, xag.y, strict=True):
        literals.append(whole.gate(kind, literals[x >> 1] ^ (x & 1), literals[y >> 1] ^ (y & 1)))
    found = [literals[output >> 1] ^ (output & 1) for output in outputs]
    return to_circuit(whole, found, circuit.labels, range(circuit.channels))


def _counted(
    circuit: LogicCircuit,
    inputs: Sequence[int],
    tables: Sequence[int],
    groups: Sequence[Sequence[int]],
    by_columns: bool,
    davio: bool,
) -> LogicCircuit:
    """Count the ones of whole neighbourhoods that groups lie in, and expand over these counts."""
    xag = Xag(circuit.inputs)
    place_of = {row: number for number, row in enumerate(inputs)}
    grouped = {inputs[number] for group in groups for number in group}
    literals: list[int] = []
    meanings: list[tuple[int, tuple[int, ...]]] = []
    # What is read beside the groups, and what fills their channel's neighbourhood up.
    members = [[inputs[number] for number in group] for group in groups]
    wholes = [_filled(group, circuit, by_columns) for group in members]
    beside = [row for row in inputs if row not in grouped]
    beside += sorted({row for whole in wholes for row in whole} - grouped - set(beside))
    for row in beside:
        literals.append(xag.input(row))
        meanings.append((-1, (row,)))
    for whole in wholes:
        for digit, literal in enumerate(count_ones(xag, [xag.input(row) for row in whole])):
            literals.append(literal)
            meanings.append((digit, tuple(whole)))
    expand = Expansion(xag, literals, davio)
    made = [_over(table, place_of, grouped, meanings, wholes) for table in tables]
    outputs = [expand(table) for table in made]
    return to_circuit(xag, outputs, circuit.labels, range(circuit.channels))


def _filled(group: Sequence[int], circuit: LogicCircuit, by_columns: bool) -> list[int]:
    """Return the rows of a group with all other cells of its channels, rows or columns together."""
    channels = sorted({row % circuit.channels for row in group})
    cells = range(NEIGHBORHOOD)
    order = sorted(cells, key=lambda n: (n % 3, n // 3)) if by_columns else list(cells)
    return [cell * circuit.channels + channel for channel in channels for cell in order]


def _over(
    table: int,
    place_of: dict[int, int],
    grouped: set[int],
    meanings: Sequence[tuple[int, tuple[int, ...]]],
    wholes: Sequence[Sequence[int]],
) -> int:
    """Return a table over the new inputs; what they cannot be together gives 0."""
    result = 0
    for case in range(1 << len(meanings)):
        counts = dict.fromkeys(map(tuple, wholes), 0)
        bits: dict[int, int] = {}
        for number, (digit, rows) in enumerate(meanings):
            bit = case >> number & 1
            if digit < 0:
                bits[rows[0]] = bit
            else:
                counts[rows] += bit << digit
        original = sum(bits[row] << place for row, place in place_of.items() if row in bits)
        possible = True
        for whole, count in counts.items():
            left = count - sum(bits[row] for row in whole if row in bits)
            own = [row for row in whole if row in grouped]
            possible = possible and 0 <= left <= len(own)
            original |= sum(1 << place_of[row] for row in own[: max(left, 0)])
        if possible:
            result |= (table >> original & 1) << case
    return result
