"""The memory that searches for exact circuits take, for the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.config.applying import LARGE, why_not_rectify
from difflogic.engine.candidates import MOST_BYTES, MOST_HELPERS
from difflogic.engine.detectors import MOST_SLOPES
from difflogic.engine.hard_gradients import most_slopes
from difflogic.engine.kernels.hard_gradients import CELLS
from difflogic.engine.kernels.structures import WORDS
from difflogic.engine.layout import Grid
from difflogic.system.arrays import CACHE_LINE
from difflogic.tasks import make_task

MOST_SAMPLES = 64
"""Most starts of a search. Each makes every candidate slower."""

FIRST_STARTS = 8
"""Starts at the beginning of a search. Counterexamples join them."""

VERIFIED_STARTS = 1024
"""Further starts on which a circuit must have no wrong cell. A circuit that is wrong on one start
in 200 passes them once in 170 times."""

ROUND = 256
"""Fresh starts that are checked together for counterexamples."""

LATER = 16
"""Multiple of a search's steps after which a circuit that must stay is checked once more."""

SEARCH_CELLS = 1024
"""Cells that a search takes a gradient over, about: a few grids, or many small ones."""

WORD = 8
"""Bytes of 64 packed cells."""

SHIFTS = {"zero": 9, "periodic": 25}
"""Most shifts that lead packed cells to their neighbours. On a torus it is one for the cell itself,
two for each neighbour at a side, and four for each neighbour at a corner."""


def most_samples(grid: Grid) -> int:
    """Return the most samples that a search takes a gradient over at a time."""
    return max(1, SEARCH_CELLS // grid.cells)


@dataclass(frozen=True)
class Packed:
    """A batch of bit-packed samples, as in a `HardSimulator`."""

    grid: Grid
    batch: int

    @property
    def words(self) -> int:
        """Words of the cells of one channel."""
        return -(-self.batch * self.grid.cells // (64 * WORDS)) * WORDS

    @property
    def padded(self) -> int:
        """Words of one channel with the padding for shifted reads."""
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


@dataclass(frozen=True)
class Trials:
    """The size of a `Trial`: starts that are run side by side, with masks and damage."""

    starts: int
    steps: int
    masked: bool = False
    damaged: bool = False
    counts: int = 1
    """Different sets of counted cells."""
    loss_channels: int = 1

    def bytes(self, netlist: Netlist, grid: Grid) -> int:
        """Return the bytes of the simulator and of all packed arrays."""
        batch = Packed(grid, self.starts)
        rows = netlist.channels + self.steps * (self.masked + self.damaged)
        rows += self.counts + self.loss_channels
        return batch.simulator(netlist) + rows * batch.words * WORD + self.steps * WORD


@dataclass(frozen=True, eq=False)
class SearchBuffers:
    """The memory of a search for exact circuits of one netlist."""

    netlist: Netlist
    grid: Grid
    steps: int
    samples: int
    """Samples of a gradient."""
    compared: Trials
    """The starts that circuits are compared on, at most."""
    fresh: tuple[Trials, ...] = ()
    """The starts that circuits are verified on."""
    search_workers: int = 1
    """Workers that judge candidates."""
    rectified: int = 0
    """Starts that circuits are rectified on; 0 without rectification."""
    checks_later_steps: bool = False
    """Whether circuits are also checked at later steps, since the target must stay."""

    @classmethod
    def for_config(
        cls, config: Config, netlist: Netlist, search_workers: int
    ) -> SearchBuffers | None:
        """Return the largest buffers that the searches of `config` may take; None without search.

        `search_workers` is the number of workers that judge candidates.
        """
        finishing = config.finishing
        if not finishing.every:
            return None
        task, masked = make_task(config), config.automaton.fire_rate < 1
        grid = Grid(config.task.height, config.task.width, config.automaton.boundary)
        cases, steps = task.find_cases(), max(task.decisive_steps)
        # If nothing is random, one sample of each start decides. Large grids are not tried out.
        deterministic = not masked and grid.cells <= LARGE and not task.has_random_start
        starts = 1 + sum(map(len, task.patches.values()))
        compared, first, verified = MOST_SAMPLES, FIRST_STARTS, VERIFIED_STARTS
        if cases is not None:
            height, width = cases.starts.shape[2:]
            grid, steps = Grid(height, width, cases.boundary), cases.steps
            compared, first, verified = len(cases.starts), len(cases.starts), 0
        elif deterministic:
            first = min(first, starts)
            compared, verified = min(MOST_SAMPLES, starts), starts - first
            steps = 3 * config.automaton.steps + 1 if task.holds else steps
        damaged, sizes = deterministic and starts > 1, [first]
        rectified = 0
        known = deterministic or cases is not None
        if finishing.rectify and known and why_not_rectify(config) is None:
            rectified = compared if cases is not None else 1
        sizes += [min(ROUND, verified - done) for done in range(0, verified, ROUND)]
        common = steps, masked, damaged, steps if damaged else 1, len(config.task.loss_channels)
        return cls(
            netlist,
            grid,
            config.automaton.steps,
            min(most_samples(grid), starts if deterministic else ROUND),
            Trials(compared, *common),
            tuple(Trials(size, *common) for size in sizes),
            search_workers,
            rectified,
            checks_later_steps=deterministic and task.holds,
        )

    @cached_property
    def bytes(self) -> int:
        """Bytes of all buffers except the values of circuits."""
        trials = sum(each.bytes(self.netlist, self.grid) for each in (self.compared, *self.fresh))
        found = self._gradients(self.steps, self.samples) + self._rectification
        return found + trials + self._wiring + self._bases * (self._base + self._scratch)

    @cached_property
    def values(self) -> int:
        """Bytes of the values of a circuit in which every gate is live, at most MOST_BYTES.

        Most circuits need a small part of that. If the values do not fit, each change is simulated
        on its own, with the same results.
        """
        row = self._compared.words * WORD
        slots = min(self.netlist.rows + 1, MOST_BYTES // (self.compared.steps * row))
        kept = min(self._bases * slots * self.compared.steps * row, MOST_BYTES)
        return kept + self._bases * slots * (row + 1 + 4)

    @property
    def _bases(self) -> int:
        return min(self.search_workers, 1 + MOST_HELPERS)

    @cached_property
    def later_bytes(self) -> int:
        """Additional bytes, values included, if a circuit goes wrong only at the last later step.

        Nearly all circuits go wrong earlier, and need a small part of that.
        """
        if not self.checks_later_steps:
            return 0
        last = LATER * self.compared.steps - 1
        longer = replace(
            self, compared=replace(self.compared, steps=last), checks_later_steps=False
        )
        looked_at = Trials(1, last, loss_channels=self.compared.loss_channels)
        more = longer.bytes + longer.values - self.bytes - self.values
        return more + looked_at.bytes(self.netlist, self.grid)

    @property
    def _compared(self) -> Packed:
        return Packed(self.grid, self.compared.starts)

    @property
    def _wiring(self) -> int:
        netlist = self.netlist
        return 4 * (5 * netlist.rows + netlist.parameters + 3 * netlist.gates + 2)

    @property
    def _base(self) -> int:
        """Bytes of one worker's base, except its values."""
        netlist, batch = self.netlist, self._compared
        base = (10 + 4 * 3 + 4 + 1) * netlist.rows + netlist.parameters
        states = (self.compared.steps + 1) * netlist.channels * batch.padded * WORD
        return base + states + 2 * batch.words * WORD + 8 * netlist.channels + 64

    @property
    def _scratch(self) -> int:
        """Bytes of one worker's scratch space for following a candidate."""
        channels = self.netlist.channels
        return 98 * self.netlist.rows + channels * (27 + 2 * self._compared.padded * WORD) + 256

    @property
    def _rectification(self) -> int:
        """Bytes of the search for rectifications, with its values and slopes."""
        if not self.rectified:
            return 0
        netlist, steps = self.netlist, self.compared.steps
        points = 64 * steps * Packed(self.grid, self.rectified).words
        slopes = min(max(MOST_SLOPES, 4 * points), netlist.gates * 4 * points)
        values = netlist.rows * points // 8
        circuit = netlist.rows * (8 + 1) + netlist.gates * 16
        return self._gradients(steps, self.rectified) + slopes + values + circuit

    def _gradients(self, steps: int, samples: int) -> int:
        netlist, batch = self.netlist, Packed(self.grid, samples)
        states = (steps + 1) * netlist.channels * batch.padded * WORD
        cells = 64 * netlist.channels * batch.padded
        slopes = most_slopes(netlist) * (4 * CELLS + 8) + 2 * 4 * cells
        rows = netlist.rows * (WORDS * WORD + 4 * 4 + 8) + netlist.inputs * 4 + CACHE_LINE
        sums = netlist.parameters * 4 * 8
        return batch.simulator(netlist) + states + slopes + rows + sums + batch.words * WORD + 128
