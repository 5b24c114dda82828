"""From a rule's table to a small circuit. Free entries are filled to make it small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.identification.rules import UNKNOWN, Space, Table
from difflogic.simplification.resynthesis import Expansion, count_ones, starts

MOST_COUNTED = 16
"""Most bits, of the centre and its neighbours' counts, to expand a table over."""
FEW_INPUTS = 10
"""Most inputs for which a circuit is built in every way."""

SLOTS = {"WW": "NW", "EE": "NE"}
"""Circuits read nine cells: inputs that stand for cells further away."""

Built = tuple[Xag, list[int]]


def build(space: Space, table: Table) -> Circuit:
    """Return a small circuit for a table by entry, whose UNKNOWN entries may become anything.

    The bits of a state are channels, the lowest is channel 0. Codes beyond the last state count as
    the last. The circuit of a `line-2` rule reads cells two away at the inputs in SLOTS.
    """
    patterns = space.spread(table)
    candidates: list[Callable[[], Built]] = []
    for symmetry in ("outer-totalistic", "rotations", "none"):
        coarse = replace(space, symmetry=symmetry)
        merged = merge(coarse, patterns)
        if merged is not None:
            candidates += _ways(coarse, merged, last_resort=not candidates)
    circuits = (to_circuit(*each(), *_channels(space)) for each in candidates)
    return min(circuits, key=lambda circuit: circuit.gates)


def filled(space: Space, table: Table, circuit: Circuit | None = None) -> Table:
    """Return the next state by pattern, with entries that are free as `build` fills them.

    `circuit` is the result of `build`, if known.
    """
    if space.counted:
        return np.maximum(space.spread(table), 0)
    return evaluate(space, circuit or build(space, table))


def _channels(space: Space) -> tuple[tuple[int, ...], list[int]]:
    return tuple(range(space.bits)), list(range(space.bits))


def evaluate(space: Space, circuit: Circuit) -> Table:
    """Return a circuit's next state for each pattern, shape (patterns,)."""
    cases = np.zeros((circuit.inputs, space.patterns), np.bool_)
    for name, states in zip(space.names, space.digits, strict=True):
        for bit in range(space.bits):
            cases[_row(space, name, bit)] = states >> bit & 1
    following = circuit.next_state(cases).astype(np.int64)
    numbers: Table = np.array([1 << bit for bit in range(space.bits)]) @ following
    return numbers


def _row(space: Space, name: str, bit: int) -> int:
    return NEIGHBORS.index(SLOTS.get(name, name)) * space.bits + bit


def merge(space: Space, patterns: Table) -> Table | None:
    """Return a table by pattern as one by entry, or None if an entry would need several states."""
    known = patterns != UNKNOWN
    merged = np.full(space.entries, UNKNOWN)
    merged[space.entry_of[known]] = patterns[known]
    return merged if (merged[space.entry_of[known]] == patterns[known]).all() else None


def _ways(space: Space, table: Table, last_resort: bool) -> Iterator[Callable[[], Built]]:
    """Yield ways to build a table's circuit. One with many inputs is only a last resort."""
    counted = space.bits + len(space.neighbour_states) * space.cells.bit_length()
    if space.symmetry == "outer-totalistic" and counted <= MOST_COUNTED:
        yield partial(_by_counts, space, table)
    if space.cells * space.bits <= FEW_INPUTS:
        tables = _truth_tables(space, space.spread(table))
        for kind in range(3):
            yield partial(_by_inputs, space, tables, kind)
    elif space.symmetry == "none" and last_resort:
        yield partial(_expanded, space, _truth_tables(space, space.spread(table)))


def _inputs(space: Space, xag: Xag) -> list[list[int]]:
    """Return the literals of each cell's bits."""
    return [[xag.input(_row(space, name, b)) for b in range(space.bits)] for name in space.names]


def _truth_tables(space: Space, patterns: Table) -> list[int]:
    """Return a complete truth table for each bit of the next state, over the cells' bits."""
    cases = np.arange(1 << space.cells * space.bits)
    numbers = np.zeros(len(cases), np.int64)
    for cell, weight in enumerate(space.weights[:, 1]):
        codes = cases >> cell * space.bits & (1 << space.bits) - 1
        numbers += weight * np.minimum(codes, space.states - 1)
    return _tables(space, patterns[numbers])


def _tables(space: Space, states: npt.NDArray[np.int64]) -> list[int]:
    """Return a complete truth table for each bit of the states of all cases."""
    known = states != UNKNOWN
    care = _number(known)
    inputs = len(states).bit_length() - 1
    found = []
    for bit in range(space.bits):
        ones = _number(known & (states >> bit & 1 == 1))
        found.append(fill(ones, care, inputs))
    # Bits filled independently may give a code beyond the last state: it becomes the last one.
    full = sum((np.array(_bits(table, inputs)) << bit) for bit, table in enumerate(found))
    if (np.asarray(full) >= space.states).any():
        full = np.minimum(full, space.states - 1)
        found = [_number(np.asarray(full) >> bit & 1 == 1) for bit in range(space.bits)]
    return found


def _number(values: npt.NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(values, bitorder="little").tobytes(), "little")


def _bits(table: int, inputs: int) -> npt.NDArray[np.int64]:
    data = table.to_bytes((1 << inputs) + 7 >> 3, "little")
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: 1 << inputs].astype(
        np.int64
    )


def fill(ones: int, care: int, inputs: int) -> int:
    """Return a truth table that is `ones` where `care` has a 1, and elsewhere saves gates.

    Wherever possible an input is ignored, or only inverts. Source: the sibling substitution of
    Coudert and Madre 1990.
    """
    if not ones & care:
        return 0
    if ones & care == care:
        return (1 << (1 << inputs)) - 1
    half = 1 << inputs - 1
    mask = (1 << half) - 1
    ones0, ones1, care0, care1 = ones & mask, ones >> half, care & mask, care >> half
    both = care0 & care1
    if not (ones0 ^ ones1) & both:
        low = fill(ones0 & care0 | ones1 & care1, care0 | care1, inputs - 1)
        return low | low << half
    if not (ones0 ^ ones1 ^ mask) & both:
        low = fill(ones0 & care0 | (ones1 ^ mask) & care1, care0 | care1, inputs - 1)
        return low | (low ^ mask) << half
    return fill(ones0, care0, inputs - 1) | fill(ones1, care1, inputs - 1) << half


def _by_inputs(space: Space, tables: Sequence[int], kind: int) -> Built:
    """Build a circuit with few inputs, in one of the ways of `starts`."""
    inputs = space.cells * space.bits
    found = list(starts(tables, inputs))
    built, outputs = found[min(kind, len(found) - 1)]
    xag = Xag(NEIGHBORHOOD * space.bits)
    literals = [bit for cell in _inputs(space, xag) for bit in cell]
    values = [0, *literals]
    for gate, x, y in zip(built.kind, built.x, built.y, strict=True):
        a, b = values[x >> 1] ^ x & 1, values[y >> 1] ^ y & 1
        values.append(xag.xor_(a, b) if gate else xag.and_(a, b))
    return xag, [values[each >> 1] ^ each & 1 for each in outputs]


def _expanded(space: Space, tables: Sequence[int]) -> Built:
    xag = Xag(NEIGHBORHOOD * space.bits)
    literals = [bit for cell in _inputs(space, xag) for bit in cell]
    expand = Expansion(xag, literals, davio=False)
    return xag, [expand(table) for table in tables]


def _by_counts(space: Space, table: Table) -> Built:
    """Count the neighbours in each state, and expand the table over the counts and the centre."""
    xag = Xag(NEIGHBORHOOD * space.bits)
    cells = _inputs(space, xag)
    centre = cells.pop(space.centre)
    counts = [
        count_ones(xag, [_is(xag, cell, like, space.states) for cell in cells])
        for like in space.neighbour_states.values()
    ]
    literals = centre + [digit for count in counts for digit in count]
    cases = np.arange(1 << len(literals))
    codes = [np.minimum(cases & (1 << space.bits) - 1, space.states - 1)]
    shift = space.bits
    for count in counts:
        codes.append(cases >> shift & (1 << len(count)) - 1)
        shift += len(count)
    around = list(space.neighbour_states)
    entry = {
        (int(space.digits[space.centre, p]), *space.counts[around, p].tolist()): int(value)
        for p, value in zip(space.examples.tolist(), table, strict=True)
    }
    keys = zip(*(code.tolist() for code in codes), strict=True)
    states = np.array([entry.get(key, UNKNOWN) for key in keys])
    expand = Expansion(xag, literals, davio=False)
    return xag, [expand(each) for each in _tables(space, states)]


def _is(xag: Xag, cell: Sequence[int], like: Sequence[int], states: int) -> int:
    """Return a literal: a cell has one of these states. Codes above the last state count as it."""
    found = 0
    for code in range(1 << len(cell)):
        if min(code, states - 1) in like:
            equal = 1
            for place, bit in enumerate(cell):
                equal = xag.and_(equal, bit if code >> place & 1 else bit ^ 1)
            found = xag.or_(found, equal)
    return found
