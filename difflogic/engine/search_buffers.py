"""The buffers of searches for exact circuits, as a plan counts them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from difflogic.engine.hard_gradients import most_slopes
from difflogic.engine.kernels.hard_gradients import CELLS
from difflogic.engine.kernels.hard_structures import WORDS
from difflogic.engine.layout import Grid
from difflogic.memory import CACHE_LINE
from difflogic.netlist import Netlist

SEARCH_CELLS = 1024
"""Cells that a search takes a gradient over, about: a few grids, or many small ones."""

WORD = 8
"""Bytes of 64 cells."""

SHIFTS = {"zero": 9, "periodic": 25}
"""By which packed cells find their neighbours: one each, two around edges, four around corners."""


def most_samples(grid: Grid) -> int:
    """Return how many samples a search takes a gradient over at a time, at most."""
    return max(1, SEARCH_CELLS // grid.cells)


@dataclass(frozen=True)
class Packed:
    """A batch of bit-packed samples, as a `HardSimulator` has it."""

    grid: Grid
    batch: int

    @property
    def words(self) -> int:
        """Words of the cells of one channel."""
        return -(-self.batch * self.grid.cells // (64 * WORDS)) * WORDS

    @property
    def padded(self) -> int:
        """The same with the words before and after, which neighbours of edges are looked for in."""
        height, width = self.grid.height, self.grid.width
        if self.grid.boundary == "periodic":
            furthest = self.grid.cells - 1
        else:
            furthest = width * (height > 1) + (width > 1)
        return self.words + 2 * (furthest // 64 + 2)

    def simulator(self, netlist: Netlist) -> int:
        """Return the bytes of a `HardSimulator`."""
        masks = SHIFTS[self.grid.boundary] * (self.words + 2) * WORD
        states = 2 * netlist.channels * self.padded * WORD
        return states + masks + netlist.gates * 16 + netlist.rows * WORDS * WORD + CACHE_LINE


@dataclass(frozen=True, eq=False)
class SearchBuffers:
    """What a search for exact circuits of one netlist works in."""

    netlist: Netlist
    grid: Grid
    steps: int
    samples: int
    """Over which it takes a gradient at a time."""

    @cached_property
    def bytes(self) -> int:
        """All of them together."""
        return self._gradients

    @property
    def _gradients(self) -> int:
        """Bytes of `HardGradients`."""
        netlist, batch = self.netlist, Packed(self.grid, self.samples)
        states = (self.steps + 1) * netlist.channels * batch.padded * WORD
        slopes = (
            most_slopes(netlist) * (4 * CELLS + 8) + 2 * 4 * 64 * netlist.channels * batch.padded
        )
        rows = netlist.rows * (WORDS * WORD + 3 * 4 + 8) + netlist.inputs * 4 + CACHE_LINE
        sums = netlist.parameters * 4 * 8
        return batch.simulator(netlist) + states + slopes + rows + sums + batch.words * WORD + 128
