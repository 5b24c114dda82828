"""Encodings: which bits stand for the symbols of a grid, and how grids are read from bits.

A *feature* says of each cell whether something is true of it. Features named "=red" ask for one
symbol. The other ones see no symbol's name, so a rule that uses them works for every symbol:

    inside    the cell belongs to the grid
    filled    it has another symbol than the background
    this      it has the symbol whose turn it is
    another   it has a symbol that is neither the background nor this one
    single    its symbol occurs in one cell only; such cells keep their symbols
    odd       its block, connected cells of one symbol, has an odd number of cells
    largest   no other block but the background's has more cells than its own

With "this" among the outputs, the circuit runs once for each symbol of a grid, and says where this
symbol will be: it treats all symbols alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.grid import NEIGHBORS
from difflogic.examples.pairs import Pair, SymbolGrid
from difflogic.system.array_types import Bits, Flags, Float64s, Int64s

MOVED_FEATURES = {
    "this-right": ("this", 0, "W"),
    "single-right": ("single", 1, "C"),
    "single-right-2": ("", -1, "W"),
    "this-left": ("this", 0, "E"),
    "single-left": ("single", 1, "C"),
    "single-left-2": ("", -1, "E"),
}
"""Features that wires move on: of what they are a copy, and which channel they take over in each
step: that of the feature after, before or itself, from this neighbour."""

FEATURE_NAMES = ("inside", "filled", "this", "another", "single", "odd", "largest", *MOVED_FEATURES)
CLASH = 255
CLASH_NAME = "?"
"""Stands in a decoded grid where a cell got two symbols; and what is printed there."""


@dataclass(frozen=True)
class Encoding:
    """The held channels of a circuit, and those that it must get right, in this order."""

    symbols: tuple[str, ...]
    background: int
    features: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def per_symbol(self) -> bool:
        """Whether the circuit runs once for each symbol."""
        return "this" in self.outputs

    @property
    def keeps_singles(self) -> bool:
        """Whether symbols that occur in one cell only stay, and have no run."""
        return any(name.startswith("single") for name in self.features)

    @property
    def held(self) -> tuple[int, ...]:
        """The channels that no step changes."""
        return tuple(n for n, feature in enumerate(self.features) if feature not in MOVED_FEATURES)

    @property
    def moving(self) -> tuple[tuple[int, int, int], ...]:
        """The channels that are copied in each step: (channel, neighbour, its channel)."""
        return tuple(
            (channel, NEIGHBORS.index(neighbor), channel + shift)
            for channel, feature in enumerate(self.features)
            if feature in MOVED_FEATURES
            for _, shift, neighbor in [MOVED_FEATURES[feature]]
        )

    def named(self, channels: Sequence[int]) -> list[str]:
        """Return what each of some channels means, such as "another" or "memory 1"."""
        names = [*self.features, *(f"next {name}" for name in self.outputs)]
        known = dict(enumerate(name.replace("=", "") for name in names))
        return [known.get(number, f"memory {number - len(names) + 1}") for number in channels]

    def runs(self, grid: SymbolGrid) -> list[int]:
        """Return the symbol of each run that a grid needs; one run of no matter what, if one."""
        if not self.per_symbol:
            return [self.background]
        kept = _singles(grid) if self.keeps_singles else []
        return [each for each in np.unique(grid).tolist() if each not in (self.background, *kept)]

    def _plane(self, feature: str, grid: SymbolGrid, run: int) -> Flags:
        match MOVED_FEATURES[feature][0] if feature in MOVED_FEATURES else feature:
            case "":
                return np.zeros(grid.shape, np.bool_)
            case "inside":
                return np.ones(grid.shape, np.bool_)
            case "filled":
                return np.asarray(grid != self.background)
            case "this":
                return np.asarray(grid == run)
            case "another":
                return np.asarray((grid != run) & (grid != self.background))
            case "odd":
                return np.asarray((grid != self.background) & (_block_sizes(grid) % 2 == 1))
            case "largest":
                sizes = np.where(grid == self.background, 0, _block_sizes(grid))
                return np.asarray((sizes == sizes.max()) & (sizes > 0))
            case "single":
                kept = np.isin(grid, _singles(grid)) & (grid != self.background)
                return np.asarray(kept)
        return np.asarray(grid == self.symbols.index(feature.removeprefix("=")))

    def starts(self, grid: SymbolGrid, size: tuple[int, int], channels: int) -> Bits:
        """Return a start for each run, (runs, channels, *size); the grid is in the upper left.

        The channels of the outputs start with what is true of the grid, other ones with 0.
        """
        runs = self.runs(grid)
        (height, width) = grid.shape
        starts = np.zeros((len(runs), channels, *size), np.uint8)
        for start, run in zip(starts, runs, strict=True):
            for channel, feature in enumerate((*self.features, *self.outputs)):
                start[channel, :height, :width] = self._plane(feature, grid, run)
        return starts

    def targets(self, pair: Pair, size: tuple[int, int]) -> Float64s:
        """Return a target for each run, (runs, outputs, *size), NaN outside the grid."""
        runs = self.runs(pair.before)
        (height, width) = pair.after.shape
        targets = np.full((len(runs), len(self.outputs), *size), np.nan)
        for target, run in zip(targets, runs, strict=True):
            for bits, feature in zip(target, self.outputs, strict=True):
                bits[:height, :width] = self._plane(feature, pair.after, run)
        return targets

    def decode(self, grid: SymbolGrid, states: Bits) -> SymbolGrid:
        """Return the grid that the outputs of its runs, (runs, outputs, height, width), show.

        CLASH stands where a cell has two symbols.
        """
        found = np.full(grid.shape, self.background, np.uint8)
        taken = np.zeros(grid.shape, np.bool_)
        for shown, run in zip(states, self.runs(grid), strict=True):
            for bits, feature in zip(shown != 0, self.outputs, strict=True):
                symbol = run if feature == "this" else self.symbols.index(feature[1:])
                found = np.where(bits, np.where(taken, CLASH, symbol), found).astype(np.uint8)
                taken |= bits
        if self.keeps_singles and self.per_symbol:
            single = self._plane("single", grid, 0)
            found[single] = np.where(taken, CLASH, grid)[single]
        return found

    def fits(self, pairs: Iterable[Pair]) -> bool:
        """Whether outputs can be told by these bits, and no start has two targets."""
        seen: dict[tuple[object, ...], bytes] = {}
        for pair in pairs:
            size = pair.before.shape
            starts = self.starts(pair.before, size, len(self.features) + len(self.outputs))
            targets = np.nan_to_num(self.targets(pair, size)).astype(np.uint8)
            if not np.array_equal(self.decode(pair.before, targets), pair.after):
                return False
            for start, target in zip(starts, targets, strict=True):
                key = size, start.tobytes()
                if seen.setdefault(key, target.tobytes()) != target.tobytes():
                    return False
        return True


def _block_sizes(grid: SymbolGrid) -> Int64s:
    """Return how many cells each cell's block has: connected cells of one symbol."""
    labels = np.arange(grid.size).reshape(grid.shape)
    while True:
        before = labels.copy()
        for cells, numbers in (grid, labels), (grid.T, labels.T):
            joined = cells[1:] == cells[:-1]
            most = np.maximum(numbers[1:], numbers[:-1])
            numbers[1:] = np.where(joined, most, numbers[1:])
            numbers[:-1] = np.where(joined, np.maximum(most, numbers[:-1]), numbers[:-1])
        if np.array_equal(labels, before):
            return np.bincount(labels.ravel())[labels]


def _singles(grid: SymbolGrid) -> list[int]:
    """Return the symbols that occur in one cell only."""
    found, times = np.unique(grid, return_counts=True)
    singles: list[int] = found[times == 1].tolist()
    return singles


def _shift(pair: Pair, background: int) -> float:
    """Return by how many columns the middle of a pair's symbols moves to the right."""
    before, after = (np.nonzero(grid != background)[1] for grid in (pair.before, pair.after))
    return float(after.mean() - before.mean()) if len(after) and len(before) else 0.0


def encodings(pairs: Sequence[Pair], symbols: tuple[str, ...], background: int) -> list[Encoding]:
    """Return the encodings that fit some pairs, those that treat symbols alike first."""

    def used(grids: Iterable[SymbolGrid]) -> tuple[str, ...]:
        numbers = sorted({int(each) for grid in grids for each in np.unique(grid)} - {background})
        return tuple("=" + symbols[number] for number in numbers)

    before = used(pair.before for pair in pairs)
    new = used(pair.after for pair in pairs)
    choices: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        (("this", "another", "inside"), ("this",)),
        (("this",), ("this",)),
    ]
    if all(_singles(pair.before) for pair in pairs):
        choices.append((("single",), ("this",)))
        if all(len(pair.before) == 1 for pair in pairs):
            ways = {int(np.sign(_shift(pair, background))) for pair in pairs}
            copies = tuple(MOVED_FEATURES)
            if ways != {-1}:
                choices.append((("this", *copies[:3]), ("this",)))
            if ways != {1}:
                choices.append((("this", *copies[3:]), ("this",)))
    choices.append(((*before, "inside"), new))
    if len(before) > 1:
        choices.append((("filled", "inside"), new))
    choices.append(((*before, "odd", "largest"), new))
    found = [Encoding(symbols, background, *choice) for choice in choices]
    return [encoding for encoding in found if encoding.fits(pairs)]


def stacked(
    encoding: Encoding, pairs: Sequence[Pair], size: tuple[int, int], channels: int
) -> tuple[Bits, Float64s, Int64s]:
    """Return all starts and targets of some pairs, and the number of the pair of each."""
    starts = [encoding.starts(pair.before, size, channels) for pair in pairs]
    targets = [encoding.targets(pair, size) for pair in pairs]
    owners = np.repeat(np.arange(len(pairs)), [len(each) for each in starts])
    return np.concatenate(starts), np.concatenate(targets), owners


def apply_rule(
    encoding: Encoding, channels: int, grids: Sequence[SymbolGrid], run: Callable[[Bits], Bits]
) -> list[SymbolGrid]:
    """Return what becomes of grids. Those of one size run together.

    `run` takes starts (runs, channels, height, width), and returns the last outputs (runs, outputs,
    height, width).
    """
    by_size: dict[tuple[int, ...], list[int]] = {}
    for number, grid in enumerate(grids):
        by_size.setdefault(grid.shape, []).append(number)
    found: dict[int, SymbolGrid] = {}
    for (height, width), numbers in by_size.items():
        starts = [encoding.starts(grids[number], (height, width), channels) for number in numbers]
        ends = np.cumsum([len(each) for each in starts])
        last = (
            run(np.concatenate(starts)) if ends[-1] else np.zeros((0, 0, height, width), np.uint8)
        )
        for number, part in zip(numbers, np.split(last, ends[:-1]), strict=True):
            found[number] = encoding.decode(grids[number], part)
    return [found[number] for number in range(len(grids))]
