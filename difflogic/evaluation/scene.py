"""What a circuit is tested on: a grid, starts and targets, a fire rate, damage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from difflogic.circuit.grid import Grid
from difflogic.system.array_types import Array, Bits, Flags
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.base import Task
from difflogic.tasks.checked import draw_batch

Draw = Callable[[int, int], tuple[Bits, Array]]
"""Takes (first, batch); returns starts (batch, C, H, W) and their targets (batch, L, H, W)."""

FIRST_FOUND = 2**62
"""The first number of starts found by certificates; drawn starts have smaller numbers."""

STARTS_AT_ONCE = 64
"""Number of starts to draw at a time when counting bits."""


class Streams(NamedTuple):
    """Names the random streams of starts, masks and damage."""

    seed: int
    start: Purpose
    mask: Purpose
    epoch: int = 0


@dataclass(frozen=True)
class Damage:
    """Zeroes a square of `size` by `size` cells after each step, up to step `until`.

    It lies in the middle, or at a place drawn for each step and start.
    """

    size: int
    until: int
    anywhere: bool = False

    def middle(self, grid: Grid) -> Bits:
        """Return the cells of the square in the middle, shape (H, W)."""
        cells = np.zeros((grid.height, grid.width), np.uint8)
        y = (grid.height - self.size) // 2
        x = (grid.width - self.size) // 2
        cells[y : y + self.size, x : x + self.size] = 1
        return cells

    def draw(self, grid: Grid, streams: Streams, samples: Sequence[int], steps: range) -> Bits:
        """Return the zeroed cells after the steps numbered `steps`, from 0.

        Shape (samples, steps, H, W).
        """
        cells = np.zeros((len(samples), len(steps), grid.height, grid.width), np.uint8)
        hit = max(0, min(self.until, steps.stop) - steps.start)
        if not self.anywhere:
            cells[:, :hit] = self.middle(grid)
            return cells
        for own, sample in zip(cells, samples, strict=True):
            rng = stream(streams.seed, Purpose.EVALUATION_DAMAGE, streams.epoch, sample)
            room = [grid.height - self.size + 1, grid.width - self.size + 1]
            corners = rng.integers(0, room, size=(self.until, 2))
            for step, (y, x) in enumerate(corners[steps.start : steps.start + hit]):
                own[step, y : y + self.size, x : x + self.size] = 1
        return cells


@dataclass(frozen=True)
class Patches:
    """Zeroes some cells of each start once, after a given step; the first start stays whole."""

    cells: Bits
    """Shape (damages, H, W), 1 for zeroed cells: start k has damage k - 1."""
    until: int
    """The step, from 1."""

    def of(self, samples: Sequence[int]) -> Bits:
        """Return the zeroed cells of some starts, shape (samples, H, W)."""
        none = np.zeros((1, *self.cells.shape[1:]), np.uint8)
        return np.concatenate([none, self.cells])[list(samples)]

    def draw(self, grid: Grid, streams: Streams, samples: Sequence[int], steps: range) -> Bits:
        """Return the zeroed cells as `Damage.draw` does."""
        cells = np.zeros((len(samples), len(steps), grid.height, grid.width), np.uint8)
        if self.until - 1 in steps:
            cells[:, self.until - 1 - steps.start] = self.of(samples)
        return cells


@dataclass(frozen=True)
class Scene:
    """A grid, starts and targets, a fire rate, damage, and when wrong cells are counted."""

    grid: Grid
    draw: Draw
    streams: Streams
    at: tuple[int, ...]
    """Steps after which wrong cells are counted, ascending, from 1."""
    channels: tuple[int, ...] = (0,)
    """The loss channels."""
    fire_rate: float = 1.0
    damage: Damage | Patches | None = None
    ignored: Bits | None = None
    """Cells that do not count, shape (H, W)."""
    advance: Callable[[Bits], Bits] | None = None
    """Maps a target (H, W) to that of the next step; None if targets stay."""
    first_target: int = 1
    """The step of the drawn target, if targets move on."""
    undamaged_at: tuple[int, ...] = ()
    """Steps of `at` at which only undamaged starts count."""

    @property
    def cells(self) -> int:
        """Counted cells per start and step."""
        return self.grid.cells - (0 if self.ignored is None else int(self.ignored.sum()))

    def counted(self, starts: int) -> int:
        """Return the number of cells of the first `starts` starts that count at one step.

        If all cells of the first STARTS_AT_ONCE starts count, assumes the same of the others.
        """
        total = self.cells * starts
        for first in range(0, starts, STARTS_AT_ONCE):
            targets = self.draw(first, min(STARTS_AT_ONCE, starts - first))[1]
            free = np.isnan(targets[:, 0])
            if not first and not free.any():
                break
            if self.ignored is not None:
                free &= self.ignored == 0
            total -= int(free.sum())
        return total

    def until(self, step: int) -> Scene:
        """Return the scene extended to a later step; the new steps count undamaged starts only."""
        later = tuple(range(self.at[-1] + 1, step + 1))
        undamaged_at = self.undamaged_at + later if self.damage is not None else ()
        return replace(self, at=self.at + later, undamaged_at=undamaged_at)

    def counts(self, samples: Sequence[int]) -> Flags:
        """Return whether each start counts at each counted step, (counts, samples)."""
        if not self.undamaged_at:
            return np.ones((len(self.at), len(samples)), np.bool_)
        # Patches spare the first start.
        everybody = ~np.isin(self.at, self.undamaged_at)
        spared = np.array(samples) == 0
        return np.asarray(everybody[:, None] | spared)

    def targets(self, drawn: Array) -> Bits:
        """Return the targets (batch, L, H, W), or (counts, batch, L, H, W) if they move on."""
        targets: Bits = (drawn != 0).astype(np.uint8)
        if self.advance is None:
            return targets
        found = []
        step = self.first_target
        for at in self.at:
            while step < at:
                boards = targets.reshape(-1, self.grid.height, self.grid.width)
                targets = np.array([self.advance(b) for b in boards]).reshape(targets.shape)
                step += 1
            found.append(targets)
        return np.array(found)


class NumberedStarts:
    """Starts by number, drawn or found by a certificate, all with the same target."""

    def __init__(self, draw: Draw, target: Bits) -> None:
        """`target` has the shape (loss channels, height, width)."""
        self._draw = draw
        self.target = target
        self._starts: list[Bits] = []

    def clear(self) -> None:
        """Remove all found starts."""
        self._starts = []

    def add(self, starts: Bits) -> range:
        """Add starts (batch, C, height, width); return their numbers."""
        first = FIRST_FOUND + len(self._starts)
        self._starts += list(starts)
        return range(first, first + len(starts))

    def draw(self, first: int, batch: int) -> tuple[Bits, Array]:
        """Return starts (batch, C, height, width) and their targets, by consecutive numbers."""
        if first < FIRST_FOUND:
            return self._draw(first, batch)
        starts = np.stack(self._starts[first - FIRST_FOUND : first - FIRST_FOUND + batch])
        return starts, np.broadcast_to(self.target, (batch, *self.target.shape))


def scene_of(task: Task, streams: Streams, at: Sequence[int]) -> Scene:
    """Return the scene of a task with its own grid and fire rate, counted after the steps `at`."""

    def draw(first: int, batch: int) -> tuple[Bits, Array]:
        return draw_batch(task, streams.seed, streams.epoch, batch, streams.start, first)

    def advance(board: Bits) -> Bits:
        following: Bits = task.call("advance", board)
        return following

    automaton = task.automaton
    return Scene(
        Grid(task.height, task.width, automaton.boundary),
        draw,
        streams,
        tuple(at),
        tuple(task.loss_channels),
        automaton.fire_rate,
        advance=advance if task.has_changing_targets() else None,
        first_target=automaton.steps,
    )
