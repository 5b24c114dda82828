"""From a rule's table to a small circuit. Free entries are filled to make it small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from difflogic.circuit.case_words import tabulated
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, NEIGHBORS
from difflogic.circuit.xag import FALSE, Xag, to_circuit
from difflogic.identification.rules import BEFORE, COARSER, UNSEEN, RuleTable, Space
from difflogic.simplification.resynthesis import Expansion, starts
from difflogic.system.array_types import Flags, Int64s

MOST_COUNTED_BITS = 20
MOST_CELL_BITS = 21
"""Most bits to expand a table over: those of the centre and its neighbours' counts, or of all
cells."""
FEW_INPUTS = 10
"""Most inputs for which a circuit is built in every way."""
GRANTED = ("outer-totalistic", "isotropic", "rotations", "reflections")
"""Symmetries that a rule gets if the recording allows, best first."""

FAR = {"WW": "NW", "EE": "NE", "WWW": "SW", "EEE": "SE"}
"""Circuits read nine cells: inputs that stand for cells further away."""

Built = tuple[Xag, list[int]]


def build(space: Space, table: RuleTable) -> Circuit | None:
    """Return a small circuit for a table by entry, whose UNSEEN entries may become anything.

    Its rule is one of the space. The bits of a state are channels, the lowest is channel 0. Codes
    beyond the last state count as the last. The circuit of a `line-2` rule reads cells two away at
    the inputs in FAR. With memory, further channels hold the state before. None if the rule depends
    on too many bits.
    """
    ways = (way for patterns in _fillings(space, table) for way in _ways(space, patterns))
    circuits = (_circuit(space, *way) for way in ways)
    return min(circuits, key=lambda circuit: circuit.gates, default=None)


def relayed(space: Space, circuit: Circuit) -> Circuit:
    """Return a circuit that reads the nine cells, for a line's rule of radius r from `build`.

    A cell sees one cell to each side, so states travel: further channels hold the state that the
    cell `far` to the left (negative: to the right) had `age` steps ago. What a rule reads r cells
    away is r steps old on arrival, so r steps of the circuit are one of the rule. The r steps in
    between belong to r films that take turns; one of them begins with the state, and the others
    with whatever the further channels hold at the start. With memory, a cell also keeps its own
    states of two steps of the rule: `remembered` says where the one before is.
    """
    radius = space.cells // 2
    bits = space.bits
    places = [(0, 0), *((0, age) for age in range(1, 2 * radius * space.memory))]
    waiting = [(far, radius - 1) for far in range(1 - radius, radius)]
    while waiting:
        far, age = waiting.pop()
        if (far, age) not in places:
            places.append((far, age))
            waiting.append(_before(far, age)[1])
    channels = len(places) * bits
    xag = Xag(NEIGHBORHOOD * channels)

    def read(name: str, place: tuple[int, int]) -> list[int]:
        first = NEIGHBORS.index(name) * channels + places.index(place) * bits
        return [xag.input(first + bit) for bit in range(bits)]

    inputs = [0] * circuit.inputs
    for name, (_, dx) in zip(space.names, space.offsets, strict=False):
        cell, (far, _) = _before(-dx, radius)
        for bit, literal in enumerate(read(cell, (far, radius - 1))):
            inputs[_row(space, name, bit)] = literal
    if space.memory:
        for bit, literal in enumerate(read("C", (0, 2 * radius - 1))):
            inputs[_row(space, BEFORE, bit)] = literal
    after = xag.next_state(circuit, inputs)[:bits]
    for far, age in places[1:]:
        after += read(*_before(far, age))
    return to_circuit(xag, after, tuple(range(channels)), range(channels))


def remembered(space: Space) -> tuple[int, ...]:
    """Return the channels that hold the state one frame before that of the first channels."""
    if not space.memory:
        return ()
    first = space.bits if space.drawable else space.bits * (space.cells // 2)
    return tuple(range(first, first + space.bits))


def _before(far: int, age: int) -> tuple[str, tuple[int, int]]:
    """Return the cell that passes on a state, by the name that a reader has for it, and where."""
    sign = (far > 0) - (far < 0)
    return ("E", "C", "W")[sign + 1], (far - sign, age - 1)


def filled(space: Space, table: RuleTable, circuit: Circuit | None) -> RuleTable:
    """Return the next state by pattern, with free entries filled as in `circuit`, or with 0.

    `circuit` is the result of `build`.
    """
    if circuit is None:
        return np.maximum(space.spread(table), 0)
    return tabulate(space, circuit)


def _circuit(space: Space, xag: Xag, after: list[int]) -> Circuit:
    before = [xag.input(_row(space, "C", bit)) for bit in range(space.channels - space.bits)]
    channels = tuple(range(space.channels))
    return to_circuit(xag, [*after, *before], channels, channels)


def tabulate(space: Space, circuit: Circuit) -> RuleTable:
    """Return a circuit's next state for each pattern, shape (patterns,)."""

    def given(patterns: Int64s) -> Iterator[tuple[int, Int64s]]:
        for name, cells in zip(space.names, space.digits[:, patterns], strict=True):
            for bit in range(space.bits):
                yield _row(space, name, bit), cells >> bit & 1

    return tabulated(circuit, space.patterns, given, range(space.bits))


def _row(space: Space, name: str, bit: int) -> int:
    if name == BEFORE:
        return CENTER * space.channels + space.bits + bit
    return NEIGHBORS.index(FAR.get(name, name)) * space.channels + bit


def merge(space: Space, patterns: RuleTable) -> RuleTable | None:
    """Return a table by pattern as one by entry, or None if an entry would need several states."""
    known = patterns != UNSEEN
    merged = np.full(space.entries, UNSEEN)
    merged[space.entry_of[known]] = patterns[known]
    return merged if (merged[space.entry_of[known]] == patterns[known]).all() else None


def _fillings(space: Space, table: RuleTable) -> Iterator[RuleTable]:
    """Yield rules of the space by pattern, each once: the table with its free entries filled.

    A rule gets as much symmetry as the table allows. Free entries are filled as whole entries, as
    would save gates over the numbers of neighbours in each state, or over the bits of all cells.
    """
    found: set[bytes] = set()
    patterns = space.spread(table)
    for symmetry in (
        *(each for each in GRANTED if each in COARSER[space.symmetry]),
        space.symmetry,
    ):
        coarse = replace(space, symmetry=symmetry)
        merged = merge(coarse, patterns)
        if merged is None:
            continue
        for cases in (_by_count(coarse), _by_code(coarse)):
            if cases is None or (found and space.inputs > FEW_INPUTS):
                continue
            tables = _tables(space, np.append(merged, UNSEEN)[cases])
            _, first = np.unique(cases, return_index=True)  # UNSEEN, if any, comes first
            full = coarse.spread(_values(tables, len(cases))[first[-coarse.entries :]])
            if full.tobytes() not in found:
                found.add(full.tobytes())
                yield full


def _ways(space: Space, patterns: RuleTable) -> Iterator[Built]:
    """Yield the circuit of a rule by pattern, built in several ways."""
    counted = replace(space, symmetry="outer-totalistic")
    cases = _by_count(counted)
    table = merge(counted, patterns)
    if cases is not None and table is not None:
        yield _counted(counted, _tables(space, np.append(table, UNSEEN)[cases]))
        if space.inputs > FEW_INPUTS:
            return
    if (codes := _codes(space)) is not None:
        yield from _expanded(space, _tables(space, patterns[codes]))


def _by_count(space: Space) -> Int64s | None:
    """Return the entry of each case of the centre's bits and its neighbours' counts.

    UNSEEN if there cannot be that many neighbours; None if the rule is of another kind, or if
    there are too many cases.
    """
    size = (space.cells - 1).bit_length()
    counted = space.bits + size * len(space.neighbour_states)
    bits = counted + space.channels - space.bits
    if space.symmetry != "outer-totalistic" or bits > MOST_COUNTED_BITS:
        return None
    numbers = space.digits[space.centre, space.examples].copy()
    for place, state in enumerate(space.neighbour_states):
        numbers += space.counts[state, space.examples] << space.bits + size * place
    if space.memory:
        numbers += space.digits[-1, space.examples] << counted
    entries = np.full(1 << bits, UNSEEN)
    entries[numbers] = np.arange(space.entries)
    cases = np.arange(1 << bits)
    for place in (0, counted)[: 1 + space.memory]:
        code = cases >> place & (1 << space.bits) - 1
        cases += np.minimum(code, space.states - 1) - code << place
    found: Int64s = entries[cases]
    return found


def _by_code(space: Space) -> Int64s | None:
    """Return the entry of each case of the cells' bits, or None for too many cases."""
    codes = _codes(space)
    return None if codes is None else space.entry_of[codes]


def _inputs(space: Space, xag: Xag) -> list[list[int]]:
    """Return the literals of each cell's bits."""
    return [[xag.input(_row(space, name, b)) for b in range(space.bits)] for name in space.names]


def _codes(space: Space) -> Int64s | None:
    """Return the pattern of each case of the cells' bits, or None for too many cases."""
    if space.inputs > MOST_CELL_BITS:
        return None
    cases = np.arange(1 << space.inputs)
    numbers = np.zeros(len(cases), np.int64)
    for cell, weight in enumerate(space.weights[:, 1]):
        codes = cases >> cell * space.bits & (1 << space.bits) - 1
        numbers += weight * np.minimum(codes, space.states - 1)
    return numbers


def _tables(space: Space, states: Int64s) -> list[int]:
    """Return a complete truth table for each bit of the states of all cases."""
    known = states != UNSEEN
    care = number_of(known)
    inputs = len(states).bit_length() - 1
    found = [
        fill(number_of(known & (states >> bit & 1 == 1)), care, inputs) for bit in range(space.bits)
    ]
    # Bits filled independently may give a code beyond the last state: it becomes the last one.
    full = _values(found, len(states))
    if (full >= space.states).any():
        full = np.minimum(full, space.states - 1)
        found = [number_of(full >> bit & 1 == 1) for bit in range(space.bits)]
    return found


def _values(tables: Sequence[int], cases: int) -> RuleTable:
    """Return the state of each case, given the truth table of each of its bits."""
    states = np.zeros(cases, np.int64)
    for bit, table in enumerate(tables):
        data = np.frombuffer(table.to_bytes(cases + 7 >> 3, "little"), np.uint8)
        states += np.unpackbits(data, bitorder="little")[:cases].astype(np.int64) << bit
    return states


def number_of(values: Flags) -> int:
    """Return the values of all cases as a truth table, the first one the lowest bit."""
    return int.from_bytes(np.packbits(values, bitorder="little").tobytes(), "little")


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
    ones0 = ones & mask
    ones1 = ones >> half
    care0 = care & mask
    care1 = care >> half
    both = care0 & care1
    if not (ones0 ^ ones1) & both:
        low = fill(ones0 & care0 | ones1 & care1, care0 | care1, inputs - 1)
        return low | low << half
    if not (ones0 ^ ones1 ^ mask) & both:
        low = fill(ones0 & care0 | (ones1 ^ mask) & care1, care0 | care1, inputs - 1)
        return low | (low ^ mask) << half
    return fill(ones0, care0, inputs - 1) | fill(ones1, care1, inputs - 1) << half


def _expanded(space: Space, tables: Sequence[int]) -> Iterator[Built]:
    """Expand tables over the cells' bits; with few inputs, in the ways of `starts`."""
    xag = Xag(NEIGHBORHOOD * space.channels)
    literals = [bit for cell in _inputs(space, xag) for bit in cell]
    if len(literals) > FEW_INPUTS:
        expand = Expansion(xag, literals, davio=False)
        yield xag, [expand(table) for table in tables]
        return
    for built, outputs in starts(tables, len(literals)):
        xag = Xag(NEIGHBORHOOD * space.channels)
        found = evaluate(built, [FALSE, *literals], xag)
        yield xag, [found[each >> 1] ^ each & 1 for each in outputs]


def _counted(space: Space, tables: Sequence[int]) -> Built:
    """Count the neighbours in each state, and expand tables over the counts and the centre."""
    xag = Xag(NEIGHBORHOOD * space.channels)
    cells = _inputs(space, xag)
    earlier = cells.pop() if space.memory else []
    literals = cells.pop(space.centre)
    codes = range(1 << space.bits)
    for like in space.neighbour_states.values():
        # Codes above the last state count as it.
        alike = [code for code in codes if min(code, space.states - 1) in like]
        literals += xag.count_ones([xag.any_of(alike, cell) for cell in cells])
    literals += earlier
    expand = Expansion(xag, literals, davio=False)
    return xag, [expand(table) for table in tables]
