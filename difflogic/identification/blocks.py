"""Rules by blocks of 2×2 cells, which shift by a row and a column at each step (Margolus).

A block's number has the states of its cells as digits, that of the upper left cell first; an entry
is what becomes of a block. Source: Toffoli and Margolus 1987, Cellular Automata Machines, chapter
12; the notation MS,D is that of Mirek's Cellebration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from difflogic.circuit.automaton import Automaton, Blocks
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, Boundary
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.examples.film import FrameArray
from difflogic.identification.explanation import Explanation, explained
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.rules import BLOCK_CELLS, BLOCKS, UNSEEN, RuleTable
from difflogic.identification.solver import Solved
from difflogic.identification.table_circuit import number_of
from difflogic.simplification.resynthesis import Expansion
from difflogic.system.array_types import Int64s
from difflogic.system.errors import ConfigError, OutOfTimeError

ROTATIONS = (0, 1, 2, 3), (2, 0, 3, 1), (3, 2, 1, 0), (1, 3, 0, 2)
"""Where the cells of a turned block come from."""
REFLECTIONS = (1, 0, 3, 2), (2, 3, 0, 1), (0, 2, 1, 3), (3, 1, 2, 0)
SYMMETRY_GROUPS = (*ROTATIONS, *REFLECTIONS), ROTATIONS, REFLECTIONS[:1], ()
"""Symmetries that a rule gets if the recording allows, best first."""

BLOCK_NEIGHBORS = (1 + np.array(BLOCK_CELLS) * (1 - 2 * np.array(BLOCK_CELLS))[:, None]) @ (3, 1)
"""The neighbours in the block of a cell at each place: itself, beside, above or below, opposite."""

BlockCells = Int64s
"""The states of a block's four cells, shape (…, 4), UNSEEN where they are not known."""


@dataclass(frozen=True, kw_only=True)
class BlockRule(Explanation):
    """A rule by blocks that explains a recording."""

    cells: BlockCells
    """The next state of each cell of each block, shape (entries, 4); UNSEEN if it was never seen.
    `table` keeps such a cell's state if other cells of the block were seen."""
    corners: list[tuple[int, int]]
    """The row and column in its block of the first cell of frame 0: all that fit, this rule's
    first."""

    @cached_property
    def complete(self) -> RuleTable:
        """The next block by block: free cells get the symmetry that the others have, or stay."""
        known = next(
            cells for group in SYMMETRY_GROUPS if (cells := self._spread(group)) is not None
        )
        free = np.where(known == UNSEEN, self.space.digits.T, known) @ self.space.weights[:, 1]
        return np.where(self.table == UNSEEN, free, self.table)

    def _spread(self, group: tuple[tuple[int, ...], ...]) -> BlockCells | None:
        """Return what becomes of blocks if turned ones turn alike, None if they do not."""
        cells = self.cells.copy()
        for turn in group:
            images = self.space.digits.T[:, turn] @ self.space.weights[:, 1]
            turned = self.cells[:, turn]
            known = cells[images]
            if ((turned != known) & (turned != UNSEEN) & (known != UNSEEN)).any():
                return None
            cells[images] = np.where(turned == UNSEEN, known, turned)
        return cells

    @property
    def properties(self) -> dict[str, bool]:
        """What the rule has and has not, by the blocks that were seen."""
        known = (self.cells != UNSEEN).all(axis=1)
        blocks, after = (np.sort(self.space.digits.T[each]) for each in (known, self.table[known]))
        return {
            "reversible": len({*self.table[known].tolist()}) == known.sum(),
            "number-conserving": bool((after == blocks).all()),
            "symmetric under rotation": self._spread(ROTATIONS) is not None,
            "symmetric under reflection": self._spread(REFLECTIONS[:1]) is not None,
        }

    @property
    def name(self) -> str | None:
        """The rule in the notation MS,D, if it has two states."""
        order = self.space.digits.T @ (1, 2, 4, 8)
        numbers = order[self.complete][np.argsort(order)]
        return "MS,D" + ";".join(map(str, numbers.tolist())) if self.space.states == 2 else None

    @cached_property
    def built(self) -> Circuit:
        """A circuit that chooses the block's cells by its place, not yet simplified."""
        bits = self.space.bits
        channels = self.space.bits + 2
        xag = Xag(NEIGHBORHOOD * channels)
        row, column = (xag.input(CENTER * channels + bits + n) for n in (0, 1))

        def either(select: int, one: int, zero: int) -> int:
            return xag.xor_(zero, xag.and_(select, xag.xor_(one, zero)))

        literals = []
        for near, bit in product(BLOCK_NEIGHBORS.T.tolist(), range(bits)):
            a, b, c, d = (xag.input(neighbor * channels + bit) for neighbor in near)
            literals.append(either(row, either(column, d, c), either(column, b, a)))
        expand = Expansion(xag, [*literals, column, row], davio=False)
        # The states of the cell at each place, and of its neighbours in the block, in all cases.
        states = np.indices((1 << bits,) * 4).reshape(4, -1)[::-1].clip(max=self.space.states - 1)
        after = np.concatenate(
            [
                self.space.digits[place, self.complete[self.space.weights[:, 1] @ states[order]]]
                for place, order in enumerate(np.arange(4)[:, None] ^ np.arange(4))
            ]
        )
        outputs = [expand(number_of(after >> bit & 1 == 1)) for bit in range(bits)]
        labels = tuple(range(channels))
        return to_circuit(xag, [*outputs, row ^ 1, column ^ 1], labels, labels)

    def _automaton(self, circuit: Circuit, each: int = 1) -> Automaton:
        found = super()._automaton(circuit, each)
        bits = self.space.bits
        edge: Boundary = "periodic" if self.boundary == "periodic" else "zero"
        blocks = Blocks(bits, bits + 1, *self.corners[0])
        return replace(found, name="blocks", boundary=edge, blocks=blocks)


def identify(inquiry: Inquiry) -> BlockRule:
    """Read a rule by blocks off a recording whose frames are one step apart.

    Cells that are not seen tell nothing of their blocks. Raises ConfigError if no rule explains the
    recording, and OutOfTimeError.
    """
    film = inquiry.recording
    space = inquiry.space
    if inquiry.noise or inquiry.hidden or inquiry.gap > 1:
        raise ConfigError(f"{BLOCKS}: leave out --noise, --hidden and --gap: blocks have none")
    if inquiry.boundary == "periodic" and (np.array(film.frames.shape[2:]) % 2).any():
        raise ConfigError(
            f"{film.subject}: has an odd side: blocks of 2×2 cells do not fit where edges meet: "
            "give --boundary zero, or unknown if it is cut out of a larger grid"
        )
    tried = {corner: _count(inquiry, corner) for corner in BLOCK_CELLS}
    wrong = {corner: (found != UNSEEN).sum(axis=2) > 1 for corner, found in tried.items()}
    order = sorted(BLOCK_CELLS, key=lambda each: (wrong[each].sum(), (tried[each] != UNSEEN).sum()))
    if (contradicted := wrong[order[0]]).any():
        entry, cell = np.argwhere(contradicted)[0]
        frame = tried[order[0]][entry, cell].max() % (film.frames.shape[1] - 1)
        raise ConfigError(
            f"{film.subject}: wherever blocks begin, {contradicted.any(axis=1).sum()} or more of "
            f"{space.entries} become several, such as {space.describe(entry)} after frame {frame}: "
            "cells may be wrong, frames missing, or --boundary another"
        )
    fits = [corner for corner in order if not wrong[corner].any()]
    every = [np.where((tried[each] < 0).all(2), UNSEEN, tried[each].argmax(2)) for each in fits]
    cells = every[0]
    known = (every[0] != UNSEEN).all(axis=1)
    sure = known & np.all([(each == cells).all(axis=1) for each in every], axis=0)
    seen = (cells != UNSEEN).any(axis=1)
    partly = np.where(cells == UNSEEN, space.digits.T, cells)
    table = np.where(seen, partly @ space.weights[:, 1], UNSEEN)
    found = explained(inquiry, "table", Solved(table, sure, seen & ~sure, None))
    return BlockRule(**vars(found), cells=cells, corners=fits)


def _count(inquiry: Inquiry, corner: tuple[int, int]) -> Int64s:
    """Return the last pair of frames in which a cell of a block became a state, or UNSEEN.

    Shape (entries, 4, states); `corner` is the place in its block of the first cell of frame 0.
    """
    film = inquiry.recording
    space = inquiry.space
    edge = inquiry.boundary
    found = np.full((space.entries, 4, space.states), UNSEEN)
    for number, (before, after) in enumerate(film.pairs):
        if inquiry.deadline.should_stop():
            raise OutOfTimeError("stopped")
        step = number % (film.frames.shape[1] - 1)
        top, left = ((each + step) % 2 for each in corner)
        first = _cut(before, top, left, edge, 0 if edge == "zero" else UNSEEN)
        then = _cut(after, top, left, edge, UNSEEN)
        for cell in range(4):
            seen = (first != UNSEEN).all(axis=1) & (then[:, cell] != UNSEEN)
            found[first[seen] @ space.weights[:, 1], cell, then[seen, cell]] = number
    return found


def _cut(frame: FrameArray, top: int, left: int, boundary: str, beyond: int) -> BlockCells:
    """Return the blocks of a frame (height, width), shape (blocks, 4)."""
    ends = (top, (frame.shape[0] + top) % 2), (left, (frame.shape[1] + left) % 2)
    if boundary == "periodic":
        frame = np.pad(frame, ends, mode="wrap")
    else:
        frame = np.pad(frame, ends, constant_values=beyond)
    rows, columns = frame.shape
    return frame.reshape(rows // 2, 2, columns // 2, 2).swapaxes(1, 2).reshape(-1, 4)
