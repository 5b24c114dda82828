"""Spaces of rules: which cells a rule reads, and which neighbourhoods it treats alike.

A neighbourhood's *pattern* is a number whose digits are the states of its cells, the first cell's
the highest. Patterns that a symmetry makes alike are one *entry* of a rule's table.

A rule with *memory* also reads the cell itself one frame earlier: the highest digit of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOODS, NEIGHBORS, OFFSETS, turned
from difflogic.circuit.life_like import notation
from difflogic.examples.film import MOST_STATES
from difflogic.examples.film import UNSEEN as UNSEEN
from difflogic.identification import hensel
from difflogic.system.array_types import Int64s
from difflogic.system.errors import ConfigError, did_you_mean

Offsets = tuple[tuple[int, int], ...]
RuleTable = Int64s
"""The next state by entry, shape (entries,), or UNSEEN."""

NEIGHBOURHOODS: dict[str, Offsets] = {
    **{name: NEIGHBORHOODS[name] for name in ("moore", "von-neumann", "hexagonal")},
    "line-1": NEIGHBORHOODS["line"],
    "line-2": tuple((0, dx) for dx in range(-2, 3)),
    "line-3": tuple((0, dx) for dx in range(-3, 4)),
}
"""The cells that a rule reads, as (rows down, columns right)."""
BEFORE = "before"
"""Name of the cell itself, one frame earlier."""
BLOCKS = "margolus"
BLOCK_CELLS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Rules of whole blocks, and a block's cells: see `difflogic.identification.blocks`."""

COUNTED = ("totalistic", "outer-sum", "outer-totalistic")
"""Symmetries by which only numbers of cells matter, or sums of their states."""
COARSER: dict[str, tuple[str, ...]] = {
    "totalistic": (),
    "outer-sum": COUNTED[:1],
    "outer-totalistic": COUNTED[:2],
    "isotropic": COUNTED,
    "rotations": (*COUNTED, "isotropic"),
    "reflections": (*COUNTED, "isotropic"),
    "none": (*COUNTED, "isotropic", "rotations", "reflections"),
}
"""For each symmetry, most of it first, those with fewer entries, whose rules it has, too."""
MOST_PATTERNS = 2**21

_TURNS = {
    # The matrix of the smallest rotation of an offset (dy, dx).
    "moore": (0, 1, -1, 0),
    "von-neumann": (0, 1, -1, 0),
    "hexagonal": (0, 1, -1, 1),
    "line-1": (-1, 0, 0, -1),
    "line-2": (-1, 0, 0, -1),
    "line-3": (-1, 0, 0, -1),
}


@dataclass(frozen=True)
class Space:
    """The rules to consider. Raises ConfigError for unknown names and too many states."""

    neighbourhood: str = "moore"
    symmetry: str = "none"
    states: int = 2
    looks_like: tuple[int, ...] = ()
    """How each state looks: as the state with this number. () if each looks like itself."""
    private: bool = False
    """Whether neighbours are read as the states that they look like: a cell knows its own alone."""
    memory: bool = False
    """Whether the next state also depends on the cell one frame earlier."""

    def __post_init__(self) -> None:
        hoods = (*NEIGHBOURHOODS, BLOCKS)
        for value, known in ((self.neighbourhood, hoods), (self.symmetry, tuple(COARSER))):
            if value not in known:
                raise ConfigError(f'no rules "{value}": {did_you_mean(value, known)}')
        if not 2 <= self.states <= MOST_STATES:
            raise ConfigError(f"states: from 2 to {MOST_STATES}, not {self.states}")
        if self.memory and self.neighbourhood == BLOCKS:
            raise ConfigError(f"{self.neighbourhood}: rules of its cells have no --memory")
        if self.neighbourhood == BLOCKS and (self.symmetry != "none" or self.states > 4):
            plain = "leave out --symmetry: the answer says which the rule has"
            many = f"has {self.states} states: blocks are read with up to 4"
            raise ConfigError(f"{BLOCKS}: {many if self.states > 4 else plain}")
        if self.patterns > MOST_PATTERNS:
            raise ConfigError(
                f"{self.states} states of {self.cells} cells make {self.patterns} neighbourhoods, "
                f"more than {MOST_PATTERNS}: choose a smaller neighbourhood or fewer states"
            )

    @property
    def offsets(self) -> Offsets:
        return NEIGHBOURHOODS.get(self.neighbourhood, BLOCK_CELLS)

    @property
    def cells(self) -> int:
        return len(self.offsets)

    @property
    def centre(self) -> int:
        return self.offsets.index((0, 0))

    @property
    def line(self) -> bool:
        return self.neighbourhood.startswith("line")

    @property
    def drawable(self) -> bool:
        """Whether a circuit, which reads nine cells, can hold these rules."""
        return set(self.offsets) <= set(OFFSETS)

    @property
    def exchangeable(self) -> bool:
        """Whether exchanging hidden states of one look gives another rule of the space.

        Sums of states change with their numbers.
        """
        sums = self.symmetry == "outer-sum" and not self.private
        return not sums and self.symmetry != "totalistic"

    @property
    def patterns(self) -> int:
        return int(self.states ** (self.cells + self.memory))

    @property
    def bits(self) -> int:
        """Channels that hold a state."""
        return (self.states - 1).bit_length()

    @property
    def inputs(self) -> int:
        """Bits that a next state may depend on."""
        return self.bits * (self.cells + self.memory)

    @property
    def channels(self) -> int:
        """Channels of a circuit: the state, and with memory the one before it."""
        return self.bits * (1 + self.memory)

    @cached_property
    def weights(self) -> Int64s:
        """What each state of each cell adds to a pattern's number, shape (cells, states).

        With memory, the last row is for the cell one frame earlier.
        """
        exponents = [*range(self.cells - 1, -1, -1), *[self.cells] * self.memory]
        places = self.states ** np.array(exponents)
        return places[:, None] * np.arange(self.states)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the cells: those of the compass, WW and EE two cells away in a line.

        With memory, the last one is BEFORE.
        """
        far = {(0, dx): ("W" if dx < 0 else "E") * abs(dx) for dx in (-3, -2, 2, 3)}
        near = dict(zip(OFFSETS, NEIGHBORS, strict=True))
        names = [(near | far)[offset] for offset in self.offsets]
        return (*names, *[BEFORE] * self.memory)

    @cached_property
    def digits(self) -> Int64s:
        """The states of the cells in each pattern, shape (cells, patterns)."""
        return np.arange(self.patterns) // self.weights[:, 1:2] % self.states

    def _read(self, digits: Int64s) -> Int64s:
        """Return digits as a rule reads them: if private, the lowest state of those alike."""
        if not self.private:
            return digits
        lowest = np.array([self.looks_like.index(look) for look in self.looks_like])
        read = lowest[digits]
        read[self.centre] = digits[self.centre]
        return read

    @property
    def neighbour_states(self) -> dict[int, list[int]]:
        """By each state that a neighbour may be read as, except 0: the states that are read so."""
        states = range(self.states)
        reads = self.looks_like if self.private else states
        return {
            read: [state for state in states if reads[state] == read]
            for read in sorted({*reads} - {0})
        }

    def keys(self, digits: Int64s) -> Int64s:
        """Return a number for each neighbourhood, equal for those of one entry.

        `digits` has the states of the cells, shape (cells, neighbourhoods).
        """
        if self.memory:
            now = replace(self, memory=False)
            keys: Int64s = now.keys(digits[:-1]) * self.states + digits[-1]
            return keys
        read = self._read(digits)
        centre = digits[self.centre]
        keys = centre.copy()
        if self.symmetry == "none":
            keys = self.weights[:, 1] @ read
        elif self.symmetry == "totalistic":
            keys = read.sum(axis=0)
        elif self.symmetry == "outer-sum":
            keys = keys * self.states * self.cells + read.sum(axis=0) - centre
        elif self.symmetry == "outer-totalistic":
            for counts in self._counts(read)[1:]:
                keys = keys * (self.cells + 1) + counts
        else:
            weights = self.weights[:, 1]
            moved = read
            # Left to right, or in a hexagon, along a diagonal.
            mirror = (0, 1, 1, 0) if self.neighbourhood == "hexagonal" else (1, 0, 0, -1)
            mirrored = turned(mirror, self.offsets)
            turn = turned(_TURNS[self.neighbourhood], self.offsets)
            keys = weights @ read
            # A hexagon has six rotations; a square repeats its four.
            for _ in range(6 if self.symmetry in ("rotations", "isotropic") else 1):
                keys = np.minimum(keys, weights @ moved)
                if self.symmetry in ("reflections", "isotropic"):
                    keys = np.minimum(keys, weights @ moved[mirrored])
                moved = moved[turn]
        return keys

    @cached_property
    def entry_of(self) -> Int64s:
        """The entry of each pattern, shape (patterns,)."""
        return np.unique(self.keys(self.digits), return_inverse=True)[1].reshape(-1)

    def _counts(self, read: Int64s) -> Int64s:
        others = np.delete(read[: self.cells], self.centre, axis=0)
        return np.stack([(others == state).sum(axis=0) for state in range(self.states)])

    @cached_property
    def counts(self) -> Int64s:
        """Numbers of neighbours in each state, without the centre, shape (states, patterns)."""
        return self._counts(self._read(self.digits))

    @cached_property
    def examples(self) -> Int64s:
        """The lowest pattern of each entry, shape (entries,)."""
        return np.unique(self.entry_of, return_index=True)[1]

    @property
    def entries(self) -> int:
        return len(self.examples)

    def describe(self, entry: int) -> str:
        """Describe the neighbourhoods of an entry."""
        pattern = int(self.examples[entry])
        text = self._described(pattern)
        return f"{text} after {self.digits[-1, pattern]}" if self.memory else text

    def _described(self, pattern: int) -> str:
        states = self.digits[: self.cells, pattern]
        if self.symmetry == "totalistic":
            return f"sum {states.sum()}"
        if self.symmetry == "outer-sum":
            centre = states[self.centre]
            return f"centre {centre}, sum of neighbours {states.sum() - centre}"
        if self.symmetry == "outer-totalistic":
            counts = self.counts[:, pattern]
            around = ", ".join(f"{counts[s]} in state {s}" for s in self.neighbour_states)
            return f"centre {states[self.centre]}, neighbours: {around}"
        signs = {offset: f"{state:x}" for offset, state in zip(self.offsets, states, strict=True)}
        rows, columns = (sorted({*axis}) for axis in zip(*self.offsets, strict=True))
        return "/".join("".join(signs.get((dy, dx), ".") for dx in columns) for dy in rows)

    def shown(self, value: int) -> int | str:
        """Return what follows an entry, for people: a state, or a block."""
        return self.describe(value) if self.neighbourhood == BLOCKS else value

    def spread(self, table: RuleTable) -> RuleTable:
        """Return a table by entry as one by pattern, shape (patterns,)."""
        return table[self.entry_of]

    def renamed(self, table: RuleTable, names: Int64s) -> RuleTable:
        """Return a table by entry of the same rule if each state gets another number, `names`."""
        digits = names[self.digits[:, self.examples]]
        patterns = np.take_along_axis(self.weights, digits, axis=1).sum(axis=0)
        found = np.empty_like(table)
        found[self.entry_of[patterns]] = np.where(table == UNSEEN, UNSEEN, names[table])
        return found

    def name(self, values: RuleTable) -> str | None:
        """Return the usual name of the rule with these next states by pattern, if it has one.

        That of a rule with memory ends in R, as in Wolfram's 150R, if it is a `difference`.
        """
        if self.memory:
            found = self.difference(values)
            name = None if found is None else replace(self, memory=False).name(found)
            return name and f"{name}R"
        if self.line:
            if self.states > 2:
                return None
            number = sum(1 << p for p in np.flatnonzero(values).tolist())
            radius = self.cells // 2
            return f"rule {number}" + (f" of radius {radius}" if radius > 1 else "")
        centre = self.digits[self.centre]
        sums = self.counts[1]
        if (values[centre > 1] != (centre[centre > 1] + 1) % self.states).any():
            return None
        # With more than two states, cells that do not survive age until they are 0 again.
        lower = {0: 0, 1: 2 % self.states}
        parts = []
        for alive in (0, 1):
            seen = [set(values[(centre == alive) & (sums == n)]) for n in range(self.cells)]
            if any(len(each) > 1 or each - {1, lower[alive]} for each in seen):
                return self._isotropic_name(values)
            parts.append([n for n, each in enumerate(seen) if 1 in each])
        letter = {"moore": "", "von-neumann": "V", "hexagonal": "H"}[self.neighbourhood]
        generations = f"/C{self.states}" if self.states > 2 else ""
        return f"{notation(*parts)}{generations}{letter}"

    def difference(self, values: RuleTable) -> RuleTable | None:
        """Return f by neighbourhood if the next state is f minus the one before, else None.

        Modulo the number of states; `values` has the next state by pattern of a rule with memory.
        """
        by_earlier = values.reshape(self.states, -1)
        sums = (by_earlier + np.arange(self.states)[:, None]) % self.states
        first: RuleTable = sums[0]
        return first if (sums == first).all() else None

    def reversible(self, values: RuleTable) -> bool:
        """Whether the same rule goes back: the frames before and after may change places.

        For each neighbourhood, the rule then exchanges the states before and after in pairs.
        """
        by_earlier = values.reshape(self.states, -1)
        back = np.take_along_axis(by_earlier, by_earlier, axis=0)
        return bool((back == np.arange(self.states)[:, None]).all())

    def _isotropic_name(self, values: RuleTable) -> str | None:
        """Return the name in Hensel's notation of a rule that is not outer-totalistic."""
        if self.neighbourhood != "moore" or self.states > 2:
            return None
        ring = self.digits[[self.names.index(cell) for cell in hensel.CIRCLE]] == 1
        return hensel.name(ring, self.digits[self.centre] == 1, values)


def spread_states(
    frames: Int64s, space: Space, boundary: str, earlier: Int64s | None = None
) -> Int64s:
    """Return the pattern around each cell of frames (…, height, width), UNSEEN if unseen.

    `earlier` has the frames before, if the rule has memory.
    """
    total = np.zeros(frames.shape, np.int64)
    unseen = np.zeros(frames.shape, np.bool_)
    around = [shifted(frames, offset, boundary) for offset in space.offsets]
    if earlier is not None:
        around.append(earlier)
    for weights, cells in zip(space.weights, around, strict=True):
        total += weights[cells]
        unseen |= cells == UNSEEN
    return np.where(unseen, UNSEEN, total)


def shifted(frames: npt.NDArray[np.generic], offset: Sequence[int], boundary: str) -> Int64s:
    """Return the state of each cell's neighbour at an offset, shape (…, height, width)."""
    dy, dx = offset
    moved = np.roll(frames, (-dy, -dx), (-2, -1)).astype(np.int64)
    if boundary != "periodic":
        height, width = frames.shape[-2:]
        beyond = 0 if boundary == "zero" else UNSEEN
        y = np.arange(height) + dy
        x = np.arange(width) + dx
        moved[..., (y < 0) | (y >= height), :] = beyond
        moved[..., :, (x < 0) | (x >= width)] = beyond
    return moved


def within(y: int, x: int, size: tuple[int, ...], boundary: str) -> tuple[int, int] | None:
    """Return a cell's row and column in frames of (height, width); None beyond the edge."""
    height, width = size
    if boundary == "periodic":
        return y % height, x % width
    return (y, x) if 0 <= y < height and 0 <= x < width else None


def hidden_spaces(space: Space, hidden: int) -> Iterator[Space]:
    """Yield spaces with up to `hidden` more states, private ones first, then those that count.

    Private ones come first since in common rules, cells that rest after activity look alike to
    their neighbours.
    """
    found = []
    counted = space.symmetry if space.symmetry in COUNTED else "outer-totalistic"
    for count in range(1, hidden + 1):
        kinds = product(
            product(range(space.states), repeat=count),
            dict.fromkeys((counted, space.symmetry)),
            (True, False),
        )
        for looks, symmetry, private in kinds:
            try:
                each = replace(
                    space,
                    symmetry=symmetry,
                    states=space.states + count,
                    looks_like=(*range(space.states), *looks),
                    private=private,
                )
            except ConfigError:
                if private and count == 1:
                    raise
            else:
                if not each.exchangeable or looks == tuple(sorted(looks)):
                    found.append(each)
    yield from sorted(
        found, key=lambda each: (not each.private, each.symmetry not in COUNTED, each.states)
    )


def describe_hidden(space: Space) -> str:
    """Describe how hidden states look."""
    seen = len(set(space.looks_like))
    looks = [
        f"{state} looks like {look}" for state, look in enumerate(space.looks_like) if state >= seen
    ]
    who = "only the cell itself can tell" if space.private else "its neighbours can tell, too"
    kind = "" if space.symmetry == "none" else f"; the rule is {space.symmetry}"
    return f"state {', '.join(looks)}; {who}{kind}"
