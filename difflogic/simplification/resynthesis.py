"""Circuits built from truth tables: other starts of a search.

A truth table of n inputs is an integer of 2^n bits; bit i is the value in case i, in which input
k is bit k of i. Nothing here is made for a particular function.

Sources: Shannon's and Davio's expansions; full adders that count the ones among inputs that may
be swapped, as in the classic construction for symmetric functions (Knuth, TAOCP 7.1.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from difflogic.circuit.xag import Xag

FEWEST_TO_COUNT = 3
"""Fewest exchangeable inputs where counting them can pay."""


def starts(tables: Sequence[int], inputs: int) -> Iterator[tuple[Xag, list[int]]]:
    """Yield circuits built in several ways, each with the literals that have these truth tables.

    The size of a table and the time double with every input.
    """
    for davio in (False, True):
        xag = Xag(inputs)
        expand = Expansion(xag, [xag.input(row) for row in range(inputs)], davio)
        yield xag, [expand(table) for table in tables]
    groups = [group for group in exchangeable(tables, inputs) if len(group) >= FEWEST_TO_COUNT]
    if groups:
        yield _counted(tables, inputs, groups)


def variable(row: int, inputs: int) -> int:
    """Return the truth table of an input."""
    low = (1 << (1 << row)) - 1
    table = 0
    for start in range(1 << row, 1 << inputs, 2 << row):
        table |= low << start
    return table


def cofactors(table: int, row: int, inputs: int) -> tuple[int, int]:
    """Return the tables with input `row` held at 0 and at 1; neither depends on it."""
    ones = variable(row, inputs)
    width = 1 << row
    high = table & ones
    low = table & ~ones
    return low | low << width, high | high >> width


def exchangeable(tables: Sequence[int], inputs: int) -> list[list[int]]:
    """Return groups of inputs; swapping two inputs of a group changes none of the tables."""
    groups: list[list[int]] = []
    for row in range(inputs):
        for group in groups:
            if all(_may_exchange(table, group[0], row, inputs) for table in tables):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups


def _may_exchange(table: int, first: int, second: int, inputs: int) -> bool:
    zero, one = cofactors(table, first, inputs)
    return cofactors(zero, second, inputs)[1] == cofactors(one, second, inputs)[0]


class Expansion:
    """Builds a table by expanding it over one input after the other, from the last.

    Tables that were built before, also inverted, are reused. With `davio` an expansion is
    f = f0 ⊕ x·(f0 ⊕ f1), Davio's; without it x·f1 ∨ ¬x·f0, Shannon's.
    """

    def __init__(self, xag: Xag, literals: Sequence[int], davio: bool) -> None:
        self._xag = xag
        self._literals = literals
        self._davio = davio
        self._built: dict[tuple[int, int], int] = {}

    def __call__(self, table: int) -> int:
        return self._build(table, len(self._literals))

    def _build(self, table: int, inputs: int) -> int:
        """Return the literal of a table over the first inputs."""
        while inputs:
            half = 1 << inputs - 1
            zero = table & (1 << half) - 1
            one = table >> half
            if zero != one:
                break
            table, inputs = zero, inputs - 1
        if not inputs:
            return table
        inverse = inputs, table ^ (1 << (1 << inputs)) - 1
        if inverse in self._built:
            return self._built[inverse] ^ 1
        if (inputs, table) not in self._built:
            self._built[inputs, table] = self._expand(zero, one, inputs - 1)
        return self._built[inputs, table]

    def _expand(self, zero: int, one: int, row: int) -> int:
        """Return the literal of a table that is `zero` or `one`, by the input `row`."""
        xag = self._xag
        x = self._literals[row]
        full = (1 << (1 << row)) - 1
        if zero == full ^ one:
            return xag.xor_(x, self._build(zero, row))
        if zero == full:
            return xag.or_(x ^ 1, self._build(one, row))
        if one == 0:
            return xag.and_(x ^ 1, self._build(zero, row))
        if one == full:
            return xag.or_(x, self._build(zero, row))
        if self._davio:
            return xag.xor_(self._build(zero, row), xag.and_(x, self._build(zero ^ one, row)))
        return xag.or_(xag.and_(x, self._build(one, row)), xag.and_(x ^ 1, self._build(zero, row)))


def _counted(
    tables: Sequence[int], inputs: int, groups: Sequence[Sequence[int]]
) -> tuple[Xag, list[int]]:
    """Count the ones in each group, and expand the tables over these counts and the rest."""
    xag = Xag(inputs)
    grouped = {row for group in groups for row in group}
    literals = []
    weights = []
    # Expansion begins at the last input, so the ungrouped ones end up nearest to the inputs.
    for row in range(inputs):
        if row not in grouped:
            literals.append(xag.input(row))
            weights.append([row])
    for group in groups:
        count = xag.count_ones([xag.input(row) for row in group])
        for digit, literal in enumerate(count):
            literals.append(literal)
            weights.append([-1 - digit, *group])
    expand = Expansion(xag, literals, davio=False)
    return xag, [expand(_over_counts(table, inputs, weights)) for table in tables]


def _over_counts(table: int, inputs: int, places: Sequence[Sequence[int]]) -> int:
    """Return a table over the counts' digits and the other inputs; impossible counts give 0.

    `places` says for each new input which row it is, or [-1 - digit, *group].
    """
    result = 0
    for case in range(1 << len(places)):
        counts: dict[tuple[int, ...], int] = {}
        original = 0
        for number, place in enumerate(places):
            bit = case >> number & 1
            if place[0] >= 0:
                original |= bit << place[0]
            else:
                group = tuple(place[1:])
                counts[group] = counts.get(group, 0) | bit << (-1 - place[0])
        if all(count <= len(group) for group, count in counts.items()):
            for group, count in counts.items():
                original |= sum(1 << row for row in group[:count])
            result |= (table >> original & 1) << case
    return result
