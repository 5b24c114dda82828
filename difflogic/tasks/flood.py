"""Mazes: all cells connected to a lit one light up, or all dead ends go out.

Both are solved by a rule of one step, which is proved in docs/local-rules.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from difflogic.circuit.specification import Bounds, Rule
from difflogic.system.array_types import Bits
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit, Sample
from difflogic.tasks.section import AutomatonConfig, TaskSection

NW, N, NE, W, CENTER, E, SW, S, SE = range(9)
"""The cells of a neighbourhood."""


class FloodSection(TaskSection):
    """Start: a maze with a lit cell. Target: all cells connected to it."""

    kind: Literal["flood"] = Field(description="the task's name")
    passages: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.65, description="probability that a cell of a maze is not a wall"
    )

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Require the usual channels."""
        return fixed_channels(self)


def fixed_channels(section: TaskSection) -> list[str]:
    """Return the problem of a section whose channels are not 0 for input and 1 for output."""
    if section.inputs == (0,) and section.loss_channels == (1,):
        return []
    return [
        "[task] inputs: channel 0 is the input and channel 1 the output: set inputs = [0] and "
        "loss_channels = [1]"
    ]


class Flood(Task):
    """Random mazes in channel 0, which stay; light in channel 1 spreads from one cell.

    A connected cell does not count if it is too far away to be lit within the steps of training.
    """

    Section: ClassVar[type[TaskSection]] = FloodSection
    section: FloodSection
    stays = True
    start = "zeros"  # pages and simulations begin with walls, and the user paints passages
    invitation = "Light floods the passages of a maze. Show channel 0 to paint more of them."

    @property
    def rule(self) -> Rule:
        return FLOOD

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a maze and its lit cell. The target is what is lit after the training steps."""
        starts, targets = self.draw_all([rng])
        return starts[0], targets[0]

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Draw each maze from its own stream, and flood all of them at once."""
        starts = np.stack([self._maze(rng, channel=0, marks=1) for rng in rngs])
        free, light = starts[:, :2].swapaxes(0, 1)
        near = spread(free, light, self.automaton.steps)
        far = spread(free, near) > near
        return starts, np.where(far, np.nan, near)[:, None]

    def _maze(self, rng: np.random.Generator, channel: int, marks: int) -> Bits:
        """Draw a maze in a channel, and cells that are free and marked in both channels."""
        size = (self.height, self.width)
        start = np.zeros((self.channels, *size), np.uint8)
        start[channel] = rng.random(size) < self.section.passages
        start[(slice(2), *rng.integers(0, size, (marks, 2)).T[:, None])] = 1
        return start

    @property
    def exhibit(self) -> Exhibit:
        view = {"brush": "ones", "size": 1, "height": 32, "width": 32, "marks": False}
        return Exhibit(self.invitation, view=view)


class DeadEndsSection(FloodSection):
    """Start: a maze with two marks. Target: the same maze without dead ends."""

    kind: Literal["dead-ends"] = Field(description="the task's name")  # type: ignore[assignment]


class DeadEnds(Flood):
    """Random mazes in channel 1, and two marks in channel 0, which stay: dead ends go out.

    A dead end does not count if it would last longer than the steps of training.
    """

    Section = DeadEndsSection
    invitation = "Dead ends of a maze go out; the ways between two marks stay. Paint more passages."

    @property
    def rule(self) -> Rule:
        return DEAD_ENDS

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Draw each maze from its own stream, and fill the dead ends of all of them at once."""
        starts = np.stack([self._maze(rng, channel=1, marks=2) for rng in rngs])
        marks, free = starts[:, :2].swapaxes(0, 1)
        near = fill(marks, free, self.automaton.steps)
        return starts, np.where(fill(marks, near) < near, np.nan, near)[:, None]


def spread(free: Bits, light: Bits, steps: int | None = None) -> Bits:
    """Return the cells that light on free cells reaches, in `steps` or at last; (…, h, w)."""
    return _repeat(lambda lit: free & (lit | (_beside(lit) > 0)), light, steps)


def fill(marks: Bits, free: Bits, steps: int | None = None) -> Bits:
    """Return the free cells left when dead ends go out, after `steps` or at last; (…, h, w)."""
    return _repeat(lambda left: left & (marks | (_beside(left) >= 2)), free, steps)


def _beside(cells: Bits) -> Bits:
    """Return how many of each cell's four neighbours are 1."""
    wide = np.pad(cells, [(0, 0)] * (cells.ndim - 2) + [(1, 1)] * 2)
    found: Bits = wide[..., :-2, 1:-1] + wide[..., 2:, 1:-1]
    found += wide[..., 1:-1, :-2] + wide[..., 1:-1, 2:]
    return found


def _repeat(step: Callable[[Bits], Bits], cells: Bits, steps: int | None) -> Bits:
    """Apply `step` to cells `steps` times, or until nothing changes."""
    while steps != 0:
        new = step(cells)
        if (new == cells).all():
            break
        cells, steps = new, None if steps is None else steps - 1
    return cells


def flood(given: Bits, shown: Bits) -> Bounds:
    """Light spreads from a lit cell to its free neighbours, and only to connected cells."""
    legal: Bits = np.all(shown <= given, axis=0).astype(np.uint8)
    beside = shown[N] | shown[W] | shown[E] | shown[S]
    free, light = (bits.T.reshape(-1, 3, 3) for bits in (given, shown))
    reached = spread(free, light, 4)  # the longest way within 3×3 cells
    least = given[CENTER] & (shown[CENTER] | beside)
    return Bounds(legal, *(np.stack([given[CENTER], bits]) for bits in (least, reached[:, 1, 1])))


def dead_ends(marks: Bits, free: Bits) -> Bounds:
    """A free cell stays free if it has a mark, or at least two free neighbours."""
    legal: Bits = np.all(marks <= free, axis=0).astype(np.uint8)
    ways = free[N] + free[W] + free[E] + free[S]
    new = np.stack([marks[CENTER], free[CENTER] & (marks[CENTER] | (ways >= 2))])
    return Bounds(legal, new, new)


FLOOD = Rule(
    flood, "grid: at step t all cells within t steps of the light are lit, and no unconnected cell"
)
DEAD_ENDS = Rule(dead_ends, "grid: dead ends are filled in time, and all else stays")
