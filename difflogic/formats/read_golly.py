"""Rules of Golly, read as circuits: the trees and tables of .rule files.

The bits of a state are channels, the lowest is channel 0. Codes beyond the last state count as the
last in a tree, and match no line of a table, unless it takes all states.

Source: Golly's help, "File formats", on .rule files and their @TREE, @TABLE and @COLORS sections.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.colors import Color
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.circuit.xag import FALSE, TRUE, Xag, to_circuit
from difflogic.formats.strict_json import MAX_GATES
from difflogic.formats.write_golly import MOST_NODE_NUMBERS, ORDER
from difflogic.system.errors import CircuitError
from difflogic.system.quantities import counted

MOST_RULE_BYTES = 2**24
MOST_LINES = 2**16
"""Lines of a table, with those that its symmetries add."""
RINGS = {
    "Moore": ("N", "NE", "E", "SE", "S", "SW", "W", "NW"),
    "vonNeumann": ("N", "E", "S", "W"),
    "hexagonal": ("N", "E", "SE", "S", "W", "NW"),
    "oneDimensional": ("W", "E"),
}
"""The cells of a table's lines, after the centre."""
CROSS = ("N", "W", "E", "S", "C")
"""The order of cells in a tree of four neighbours, from the root."""

TableLine = tuple[tuple[frozenset[int], ...], int]
"""Which states match, of the centre and its neighbours, and the next state."""


def read_golly(text: str) -> tuple[str, Circuit, tuple[Color, ...]]:
    """Return the name of a rule, its circuit, and a colour for each code of its states, or ().

    Raises CircuitError for anything but a rule of up to 256 states that this can read.
    """
    parts = re.split(r"^@([A-Z]+)", re.sub(r"#.*", "", text), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    body = sections.get("TREE", sections.get("TABLE"))
    if "RULE" not in sections or body is None:
        raise CircuitError("is no rule of Golly: it needs @RULE, and @TREE or @TABLE")
    settings: dict[str, str] = dict(
        re.findall(r"^\s*(\w+)\s*[:=]\s*(\w+)\s*$", body, flags=re.MULTILINE)
    )
    states = _number(settings.get("num_states", settings.get("n_states", "")))
    if not 2 <= states <= 256:
        raise CircuitError("num_states or n_states must be from 2 to 256")
    lines = [line.strip() for line in body.splitlines()]
    lines = [line for line in lines if line and not re.fullmatch(r"\w+\s*[:=]\s*\w+", line)]
    building = _Building(states)
    after = (
        building.tree(settings.get("num_neighbors", ""), lines)
        if "TREE" in sections
        else building.table(list(_table(settings, states, lines)), settings["neighborhood"])
    )
    channels = tuple(range(building.bits))
    circuit = to_circuit(building.xag, after, channels, channels)
    name = (sections["RULE"].split() or [""])[0]
    return name, circuit, _colours(sections.get("COLORS", ""), states, building.bits)


def _number(text: str) -> int:
    """Return a number of at most three digits; -1 for other texts."""
    return int(text) if re.fullmatch("[0-9]{1,3}", text) else -1


class _Building:
    """A circuit for rules of this many states."""

    def __init__(self, states: int) -> None:
        self.states = states
        self.bits = (states - 1).bit_length()
        self.xag = Xag(NEIGHBORHOOD * self.bits)
        self._cells = {
            name: [self.xag.input(place * self.bits + bit) for bit in range(self.bits)]
            for place, name in enumerate(NEIGHBORS)
        }
        self._matches: dict[tuple[str, frozenset[int]], int] = {}

    def _choose(self, bit: int, one: Sequence[int], zero: Sequence[int]) -> list[int]:
        """Return literals that are `one` where a bit is 1, else `zero`."""
        xag = self.xag
        if len(xag.kind) > MAX_GATES:
            raise CircuitError(f"takes more than {MAX_GATES} gates")
        pairs = zip(one, zero, strict=True)
        return [xag.xor_(y, xag.and_(bit, xag.xor_(x, y))) for x, y in pairs]

    def _digits(self, state: int) -> list[int]:
        return [TRUE if state >> bit & 1 else FALSE for bit in range(self.bits)]

    def tree(self, neighbours: str, lines: Sequence[str]) -> list[int]:
        """Return the next state's bits by a tree, whose last node is the root."""
        order = {"8": ORDER, "4": CROSS}.get(neighbours)
        if order is None:
            raise CircuitError(f"num_neighbors={neighbours}: trees are of 8 or 4 neighbours")
        if len(lines) * self.states > MOST_NODE_NUMBERS:
            raise CircuitError(f"its tree has more than {MOST_NODE_NUMBERS} numbers")
        nodes = list[tuple[int, list[int]]]()
        for line in lines:
            try:
                level, *children = map(int, line.split())
                if len(children) != self.states or not 1 <= level <= len(order):
                    raise ValueError
                ways = [self._child(level, child, nodes) for child in children]
            except (ValueError, IndexError):
                raise CircuitError(f'"{line:.60}" is no node of its tree') from None
            ways += ways[-1:] * (2**self.bits - self.states)
            for bit in self._cells[order[len(order) - level]]:
                pairs = zip(ways[1::2], ways[::2], strict=True)
                ways = [self._choose(bit, one, zero) for one, zero in pairs]
            nodes.append((level, ways[0]))
        if not nodes or nodes[-1][0] != len(order):
            raise CircuitError("its tree has no root: the last node must be the deepest")
        return nodes[-1][1]

    def _child(self, level: int, child: int, nodes: Sequence[tuple[int, list[int]]]) -> list[int]:
        if level == 1:
            if not 0 <= child < self.states:
                raise ValueError
            return self._digits(child)
        below, found = nodes[child]
        if child < 0 or below != level - 1:
            raise ValueError
        return found

    def table(self, lines: Sequence[TableLine], neighbourhood: str) -> list[int]:
        """Return the next state's bits by a table: the first line that matches counts."""
        after = list(self._cells["C"])
        for sets, state in reversed(lines):
            match = TRUE
            for name, each in zip(("C", *RINGS[neighbourhood]), sets, strict=True):
                match = self.xag.and_(match, self._match(name, each))
            after = self._choose(match, self._digits(state), after)
        return after

    def _match(self, name: str, states: frozenset[int]) -> int:
        if len(states) == self.states:
            return TRUE
        if (name, states) not in self._matches:
            self._matches[name, states] = self.xag.any_of(sorted(states), self._cells[name])
        return self._matches[name, states]


def _table(settings: dict[str, str], states: int, lines: Iterable[str]) -> Iterator[TableLine]:
    """Yield the lines of a table, with those that its symmetries add."""
    ring = RINGS.get(settings.get("neighborhood", ""))
    if ring is None:
        raise CircuitError(
            f"neighborhood {settings.get('neighborhood', 'missing')}: must be {', '.join(RINGS)}"
        )
    symmetry = settings.get("symmetries", "none")
    variables = dict[str, tuple[int, ...]]()
    many = 0
    for line in lines:
        # As in Golly: braces, commas, blanks and = only separate words.
        match re.findall(r"[^\s={},]+", line):
            case ["var", name, first, *rest]:
                values = (_states(token, variables, states) for token in (first, *rest))
                variables[name] = tuple(dict.fromkeys(chain(*values)))
                continue
        tokens = re.split(r"\s*,\s*", line) if "," in line else list(line.replace(" ", ""))
        if len(tokens) != len(ring) + 2:
            found = counted(len(tokens), "state")
            raise CircuitError(f'"{line:.60}" has {found}, not {len(ring) + 2}')
        for (centre, *near), state in _bound(tokens, variables, states):
            for image in _images(tuple(near), symmetry):
                many += 1
                if many > MOST_LINES:
                    raise CircuitError(f"its symmetries make more than {MOST_LINES} lines")
                yield (centre, *image), state


def _bound(
    tokens: Sequence[str], variables: dict[str, tuple[int, ...]], states: int
) -> Iterator[TableLine]:
    """Yield a line for each value of the variables that it has more than once.

    The first line that matches counts, so their order does: that of Golly, where the values of a
    variable stand as listed, and the first variable by name changes fastest.
    """
    twice = sorted({name for name in tokens if tokens.count(name) > 1 and name in variables})
    for values in product(*(variables[name] for name in reversed(twice))):
        known = variables | {
            name: (value,) for name, value in zip(reversed(twice), values, strict=True)
        }
        *sets, after = (_states(token, known, states) for token in tokens)
        if len(after) != 1:
            raise CircuitError(f'"{",".join(tokens):.60}": its next state is not one state')
        yield tuple(map(frozenset, sets)), after[0]


def _states(token: str, known: dict[str, tuple[int, ...]], states: int) -> tuple[int, ...]:
    if token in known:
        return known[token]
    if not 0 <= (state := _number(token)) < states:
        raise CircuitError(f'"{token:.20}" is neither a state below {states} nor a variable')
    return (state,)


def _images(
    near: tuple[frozenset[int], ...], symmetry: str
) -> Iterator[tuple[frozenset[int], ...]]:
    """Yield what a symmetry makes of the states of the neighbours, which stand in a ring."""
    many = len(near)
    found = re.fullmatch(r"(?:rotate([23468]))?(reflect\w*)?", symmetry)
    if symmetry == "permute":
        yield from _orders(Counter(near))
        return
    turns = int((found and found[1]) or 1)
    if symmetry != "none" and (found is None or many % turns):
        raise CircuitError(f"symmetries:{symmetry:.20} of {many} neighbours are not read")
    for turn in range(turns):
        by = turn * many // turns
        turned = near[by:] + near[:by]
        yield turned
        if found and found[2]:
            yield turned[::-1] if many == 2 else (turned[0], *turned[:0:-1])


def _orders(counts: Counter[frozenset[int]]) -> Iterator[tuple[frozenset[int], ...]]:
    """Yield all different orders of what is counted."""
    if not counts:
        yield ()
    for each in counts:
        for rest in _orders(counts - Counter([each])):
            yield (each, *rest)


def _colours(text: str, states: int, bits: int) -> tuple[Color, ...]:
    rows = (line.split() for line in text.splitlines())
    numbers = (tuple(map(int, row)) for row in rows if len(row) == 4 and "".join(row).isdigit())
    found = {state: (r, g, b) for state, r, g, b in numbers if max(r, g, b) < 256}
    if not found.keys() >= {*range(states)} or bits > 4:
        return ()
    return tuple(found[min(state, states - 1)] for state in range(2**bits))
