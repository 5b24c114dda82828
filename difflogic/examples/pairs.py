"""Pairs of grids, before and after, and what is wrong with a collection of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted

MOST_SYMBOLS = 16
MOST_PAIR_CELLS = 2**18
"""Of all grids before together: a run keeps a copy of its examples."""
MOST_NAMED = 5
"""Pairs that a message names one by one."""

SymbolGrid = Bits
"""Numbers of symbols, shape (height, width)."""


@dataclass(frozen=True, eq=False)
class Pair:
    """An example: a grid, and what should become of it."""

    before: SymbolGrid
    after: SymbolGrid
    place: str = ""
    """Where it was read, for messages: "train pair 3"."""

    def __str__(self) -> str:
        """Return rows of hexadecimal digits, as in "0110/0000>0000/0110"."""
        return ">".join(
            "/".join("".join(f"{symbol:x}" for symbol in row) for row in grid.tolist())
            for grid in (self.before, self.after)
        )

    @classmethod
    def parse(cls, text: str) -> Pair:
        """Read what `str` gives. Raises ValueError."""
        before, after = (
            np.array([[int(digit, 16) for digit in row] for row in grid.split("/")], np.uint8)
            for grid in text.split(">")
        )
        if before.shape != after.shape or before.ndim != 2 or not before.size:
            raise ValueError("a pair needs two grids of one size")
        return cls(before, after)


@dataclass(frozen=True)
class Examples:
    """Pairs to learn from, and pairs that are kept aside to test what was learned."""

    symbols: tuple[str, ...]
    """The name of each symbol, by its number."""
    train: tuple[Pair, ...]
    held_out: tuple[Pair, ...] = ()
    source: str = "the examples"
    """The file, for messages."""

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ConfigError(f"{self.source}: {problem}")

    def _problem(self) -> str | None:
        pairs = self.every
        if not self.train:
            return "has no pair to learn from: give grids with an input and an output"
        for pair in pairs:
            if pair.before.shape != pair.after.shape:
                (rows, columns) = pair.before.shape
                (above, across) = pair.after.shape
                return (
                    f"{pair.place}: the output has {above}×{across} cells, and the input "
                    f"{rows}×{columns}: an automaton keeps its grid, so both need one size"
                )
        cells = sum(pair.before.size for pair in pairs)
        if cells > MOST_PAIR_CELLS:
            return (
                f"{counted(len(pairs), 'pair')} have {cells} cells, more than {MOST_PAIR_CELLS}: "
                f"keep about {max(1, len(pairs) * MOST_PAIR_CELLS // cells)} of them"
            )
        if clash := contradiction(pairs):
            first, second = clash
            return (
                f"{first.place} and {second.place} have the same input and different outputs: no "
                "rule can do both on a whole grid: correct or remove one"
            )
        if all(np.array_equal(pair.before, pair.after) for pair in self.train):
            return "every output equals its input: there is nothing to learn"
        return None

    @property
    def every(self) -> tuple[Pair, ...]:
        """All pairs."""
        return (*self.train, *self.held_out)

    @property
    def sizes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The least rows and columns of all grids, and the most."""
        shapes = np.array([pair.before.shape for pair in self.every])
        (rows, columns) = shapes.min(axis=0)
        (most_rows, most_columns) = shapes.max(axis=0)
        return (int(rows), int(columns)), (int(most_rows), int(most_columns))

    @property
    def background(self) -> int:
        """The symbol "0" or "." if it occurs before, else the most frequent one."""
        seen = np.bincount(np.concatenate([pair.before.ravel() for pair in self.train]))
        named = [number for number, name in enumerate(self.symbols) if name in ("0", ".")]
        used = [number for number in named if number < len(seen) and seen[number]]
        return used[0] if used else int(seen.argmax())

    def split(self, share: float, seed: int) -> Examples:
        """Return the examples with a random `share` of the pairs kept aside, at least one.

        Pairs that the file keeps aside stay so. Raises ConfigError if no pair were left.
        """
        aside = max(1, round(share * len(self.train)))
        if aside >= len(self.train):
            raise ConfigError(
                f"{self.source}: {counted(len(self.train), 'pair')} to learn from: keeping {aside} "
                "aside leaves none: choose a smaller share"
            )
        order = np.random.default_rng(seed).permutation(len(self.train)).tolist()
        kept = [self.train[number] for number in sorted(order[aside:])]
        moved = [self.train[number] for number in sorted(order[:aside])]
        return replace(self, train=(*kept,), held_out=(*moved, *self.held_out))

    def distinct(self) -> tuple[Examples, list[str]]:
        """Return the examples without repeated pairs, and what was left out, in words.

        A pair to learn from tests nothing, so a pair kept aside that equals one is left out, too.
        """
        seen: dict[str, Pair] = {}
        learned = [pair for pair in self.train if seen.setdefault(str(pair), pair) is pair]
        in_both = [pair for pair in self.held_out if str(pair) in seen]
        aside = [pair for pair in self.held_out if seen.setdefault(str(pair), pair) is pair]
        words = list[str]()
        if in_both:
            places = named([pair.place for pair in in_both])
            words.append(f"left out {places}, not kept aside: pairs to learn from equal them")
        repeated = len(self.train) + len(self.held_out) - len(seen) - len(in_both)
        if repeated:
            words.append(f"left out {counted(repeated, 'pair')} that others equal")
        return Examples(self.symbols, (*learned,), (*aside,), self.source), words


def contradiction(pairs: Iterable[Pair]) -> tuple[Pair, Pair] | None:
    """Return two pairs with equal inputs and different outputs, or None."""
    seen: dict[tuple[object, ...], Pair] = {}
    for pair in pairs:
        key = pair.before.shape, pair.before.tobytes()
        other = seen.setdefault(key, pair)
        if not np.array_equal(other.after, pair.after):
            return other, pair
    return None


def named(places: Sequence[str]) -> str:
    """Name the places of some pairs, at most MOST_NAMED one by one."""
    more = len(places) - MOST_NAMED
    return ", ".join(places[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def right_in_words(right: Mapping[str, Sequence[int]]) -> str:
    """Say how many pairs of each part are right: "training 3 of 3, held out 1 of 1 pairs right"."""
    parts = [f"{part} {found} of {total}" for part, (found, total) in right.items() if total]
    aside = "" if right["held out"][1] else "; none was kept aside to test what was learned"
    return f"{', '.join(parts)} pairs right{aside}"


def local(pairs: Iterable[Pair], periodic: bool) -> bool:
    """Whether equal nine cells, in grids before, never become different ones."""
    known: dict[bytes, int] = {}
    for pair in pairs:
        grid = np.pad(pair.before + 1, 1, mode="wrap" if periodic else "constant")
        around = np.lib.stride_tricks.sliding_window_view(grid, (3, 3)).reshape(-1, 9)
        for cells, after in zip(around, pair.after.ravel().tolist(), strict=True):
            if known.setdefault(cells.tobytes(), after) != after:
                return False
    return True


def largest(pairs: Sequence[Pair]) -> tuple[int, int]:
    """Return the most rows and the most columns of some pairs' grids."""
    height, width = np.array([pair.before.shape for pair in pairs]).max(axis=0)
    return int(height), int(width)


def without_background(pair: Pair, background: int) -> Pair:
    """Return a pair without the rows and columns around it that are background throughout."""
    filled = (pair.before != background) | (pair.after != background)
    if not filled.any():
        return Pair(pair.before[:1, :1], pair.after[:1, :1])
    rows = np.flatnonzero(filled.any(axis=1))
    columns = np.flatnonzero(filled.any(axis=0))
    part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return Pair(pair.before[part], pair.after[part])


def shortened(pair: Pair, most: int) -> Pair:
    """Return a pair with at most `most` equal rows, or columns, side by side; more are cut out."""
    grids = np.stack([pair.before, pair.after])
    for axis in 1, 2:
        lines = np.moveaxis(grids, axis, 0)
        numbers = np.arange(len(lines))
        differs = np.append(True, (lines[1:] != lines[:-1]).any(axis=(1, 2)))
        first = np.maximum.accumulate(np.where(differs, numbers, 0))
        grids = np.compress(numbers - first < most, grids, axis=axis)
    return Pair(grids[0], grids[1])
