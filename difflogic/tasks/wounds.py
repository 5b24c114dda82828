"""Lessons about wounds: single steps of damaged checkerboards, and what each cell can know then.

A settled cell has a code of eight bits: its own colour, those of its right, lower and lower right
neighbour, the opposites of the first three, and a bit that says that it has fired. So any neighbour
determines the code, and zeros mean that nothing is known. In a lesson, some cells have lost their
code. A cell that can tell its code from its neighbours should have it after one step; a cell that
sees no code should have none. If each step is right, so is the whole: codes spread from the upper
left corner, and a wound closes from all sides.

Targets of hidden channels are hints (Abu-Mostafa 1990, "Learning from hints in neural networks").
"""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import Literal

import numpy as np

from difflogic.circuit.grid import NEIGHBORS, OFFSETS
from difflogic.system.array_types import Bits, Flags, Int64s
from difflogic.system.streams import dirichlet
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Sample

CellMask = Flags

Contents = Literal["none", "any"]

CODE = 8
"""Channels of a code. The last says that a cell has fired; the rest is zeros if not known."""

RIGHT, ERASED, FIRED, NOISE, SHIFTED = range(5)
"""What a cell holds: its code; zeros; zeros, but it has fired; random bits; the code of a cell some
rows and columns away."""

KIND_SHARES = np.array([1.0, 0.7, 0.4, 2.0, 0.4])
"""Concentrations of a Dirichlet distribution over the kinds of cells."""

SPRINKLED = 0.6
MOST_GAPS = 0.5
MOST_SQUARES = 4
MOST_SIDE = 8
"""Share of lessons in which each cell draws its kind alone, rather than in rectangles; most gaps
per row or column of cells; most rectangles, and their longest side."""

WOUNDED_SHARES = (0.2, 0.5, 0.8, 1.0, 1.0)
"""Shares of the cells of a rectangle that it wounds."""


class Wounds(Task):
    """One step of a board of small checkerboards with gaps between them, some cells wounded."""

    def __init__(self, board: Task, square: int) -> None:
        """Prepare for `board`, a checkerboard of `square` by `square` cells."""
        section = board.section.model_copy(update={"loss_channels": tuple(range(CODE))})
        automaton = board.automaton.model_copy(update={"steps": 1, "fire_rate": 1.0})
        super().__init__(section, automaton)
        self._square = square

    @cached_property
    def _plane(self) -> Bits:
        """The codes of a part of the plane, shape (CODE, rows, columns)."""
        period = 2 * self._square
        y, x = np.indices((self.height + period, self.width + period))

        def color(down: int, right: int) -> Int64s:
            return ((y + down) // self._square + (x + right) // self._square) % 2

        own, right, lower, diagonal = (color(*at) for at in ((0, 0), (0, 1), (1, 0), (1, 1)))
        pairs = (own, 1 - own, right, 1 - right, lower, 1 - lower, diagonal, np.ones_like(own))
        return np.stack(pairs).astype(np.uint8)

    def sample(self, rng: np.random.Generator) -> Sample:
        while True:
            state, rows, columns = self._draw_wounded(rng)
            code = self._codes(rows, columns)
            corner = (rows == 0)[:, None] & (columns == 0)
            known, blank = self.knowledge(state, code, corner)
            inside = code[-1] == 1
            target = np.where(known & inside, code.astype(np.float64), np.nan)
            target[:, blank & inside] = np.eye(CODE)[-1][:, None]
            if not np.isnan(target).all():
                return state, target

    def _codes(self, rows: Int64s, columns: Int64s) -> Bits:
        inside = (rows >= 0)[:, None] & (columns >= 0)
        codes: Bits = self._plane[:, rows][:, :, columns] * inside
        return codes

    def _draw_wounded(self, rng: np.random.Generator) -> tuple[Bits, Int64s, Int64s]:
        """Return a state, and each row's and column's place in its small board; -1 is a gap."""
        shape = (self.height, self.width)
        gaps = rng.random() * MOST_GAPS
        rows, columns = (_places(rng.random(side) < gaps) for side in shape)
        code = self._codes(rows, columns)
        if rng.random() < SPRINKLED:
            kinds = rng.choice(len(KIND_SHARES), shape, p=dirichlet(rng, KIND_SHARES))
        else:
            kinds = np.zeros(shape, np.int64)
            for _ in range(rng.integers(1, MOST_SQUARES + 1)):
                sides = rng.integers(1, MOST_SIDE + 1, 2)
                first = rng.integers(1 - sides, shape)
                block = kinds[tuple(map(slice, np.maximum(first, 0), first + sides))]
                hit = rng.random(block.shape) < rng.choice(WOUNDED_SHARES)
                block[hit] = rng.integers(ERASED, len(KIND_SHARES))
        down, right = rng.integers(0, 2 * self._square, 2)
        other = self._plane[:, down : down + self.height, right : right + self.width]
        state = np.where(kinds == RIGHT, code, 0)
        state[-1, kinds == FIRED] = 1
        noise = rng.integers(0, 2, state.shape, dtype=np.uint8)
        state = np.where(kinds == NOISE, noise, np.where(kinds == SHIFTED, other, state))
        return state * code[-1], rows, columns

    def knowledge(self, state: Bits, code: Bits, corner: CellMask) -> tuple[CellMask, CellMask]:
        """Return which cells can tell their code after one step, and which see no code at all.

        `code` are the right codes, zeros beyond the edges; `corner` marks upper left corners.
        """
        right = _Seen(np.logical_and((state == code).all(axis=0), code[-1]))
        silent = _Seen(np.logical_not(state[:-1].any(axis=0)), beyond=True)
        lying = _Seen(~(right.cells | silent.cells))
        fired = _Seen(state[-1] == 1)
        north = right.of("N")
        west = right.of("W")
        unseen_north = silent.of("N")
        unseen_west = silent.of("W")
        # The majority of two neighbours and the cell itself: Toom 1980.
        known = north & west | north & unseen_west | west & unseen_north
        known |= (north | west) & right.cells
        known |= unseen_north & unseen_west & right.any() & ~lying.any()
        heard = _Seen(fired.cells | ~silent.cells)
        five = (heard.of(name) for name in ("NW", "N", "W", "NE", "SW"))
        as_corner = fired.cells & ~reduce(or_, five)
        known = (known & ~as_corner) | corner & fired.cells
        blank = ~_Seen(~silent.cells).any() & ~as_corner
        return known, blank & ~known


def _places(gap: CellMask) -> Int64s:
    """Return each line's distance from the gap before it, from 0; -1 for the gaps themselves."""
    line = np.arange(len(gap))
    places: Int64s = line - np.maximum.accumulate(np.where(gap, line, -1)) - 1
    return places


class _Seen:
    """What each cell sees of its neighbours; `beyond` lies beyond the edge."""

    def __init__(self, cells: CellMask, beyond: bool = False) -> None:
        self.cells = cells
        height, width = cells.shape
        self._padded = np.full((height + 2, width + 2), beyond)
        self._padded[1:-1, 1:-1] = cells

    def of(self, name: str) -> CellMask:
        """Return the neighbours of this name."""
        (dy, dx) = OFFSETS[NEIGHBORS.index(name)]
        (height, width) = self.cells.shape
        return self._padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]

    def any(self) -> CellMask:
        """Return whether any of the nine cells is true."""
        rows = self._padded[:-2] | self._padded[1:-1] | self._padded[2:]
        found: CellMask = rows[:, :-2] | rows[:, 1:-1] | rows[:, 2:]
        return found
