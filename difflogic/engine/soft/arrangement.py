"""How a batch of rollouts is cut into pieces and shared by workers, and the memory it takes.

How the cells are *cut* (tiles, chunks) sets the order in which gradients are added. It follows from
the problem alone. How the pieces are *shared* (workers, strategies, samples in flight)
changes no bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD, Grid
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hardware import Hardware
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.pipeline import control_places
from difflogic.engine.kernels.teams import CURSOR_FIELDS
from difflogic.engine.soft.layout import (
    make_layout,
    samples_per_group,
    stride,
    tile_lanes,
    tiles_per_chunk,
)
from difflogic.engine.soft.program import Program, compile_program
from difflogic.engine.soft.sharing import SEQUENTIAL, Sharing, plan_team
from difflogic.system.array_types import Array
from difflogic.system.arrays import PAGE, aligned
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import show_bytes

GATE_LANES_PER_CALL = 2 * 10**8
"""Gates times cells that workers evaluate in one call, about: some tenths of a second on one slow
core. Longer rollouts are cut into spans of steps, and can be stopped between them."""

SECONDS_PER_GATE = 350e-12
"""Seconds of a training step per gate and cell, roughly: docs/performance.md."""

LEAST_SHARE = 0.5e-3
"""Seconds of a training step that make a worker worth waking, which takes 0.07 to 0.4 ms
(workers.py). The Game of Life's 0.2 ms are done sooner by one worker."""


@dataclass(frozen=True)
class Buffer:
    """Shape and type of an array to allocate."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """Bytes of the array, with the padding that puts its start where it should be."""
        return prod(self.shape) * self.dtype.itemsize + PAGE


@dataclass(frozen=True)
class Rollouts:
    """The rollouts of an engine, forward and back, and the buffers they need."""

    program: Program
    channels: int
    grid: Grid
    steps: int
    dtype: np.dtype[Any]
    losses: int = 1
    """Most steps of a rollout after which the state is compared with the target."""
    loss_channels: int = 0
    masked: bool = False
    """Whether the automaton is asynchronous, so that cells are masked."""

    def shared(self, groups: int, chunks: int) -> dict[str, Buffer]:
        """Return the arrays that all workers share while `groups` of samples are in flight."""
        channels = self.channels
        length = stride(self.grid)
        samples = samples_per_group(self.grid)
        kept = samples * self.grid.cells if self.masked else 0
        parameters = self.program.parameters * 4
        return {
            "states": Buffer((groups, self.steps + 1, channels, length), self.dtype),
            "input_gradients": Buffer(
                (groups, k.RING, NEIGHBORHOOD * channels, length), self.dtype
            ),
            "loss_gradients": Buffer((groups, self.losses, channels, length), self.dtype),
            "targets": Buffer((groups, self.loss_channels, length), self.dtype),
            "sums": Buffer((groups, chunks, parameters), self.dtype),
            "masks": Buffer((groups, self.steps, kept), np.dtype(np.uint8)),
            "coefficients": Buffer((parameters,), self.dtype),
        }

    def workspace(self) -> dict[str, Buffer]:
        """Return one worker's arrays: a tile of values, one of gradients, and little else."""
        program = self.program
        return {
            "values": Buffer((program.value_rows * k.MAX_LANES,), self.dtype),
            "gradients": Buffer((program.gradient_rows * k.MAX_LANES,), self.dtype),
            "kept": Buffer((self.channels * k.MAX_LANES,), self.dtype),
            "scratch": Buffer((k.SCRATCH,), self.dtype),
            "cursor": Buffer((CURSOR_FIELDS,), np.dtype(np.int64)),
        }


def total(shapes: dict[str, Buffer]) -> int:
    return sum(each.bytes for each in shapes.values())


def allocate(shapes: dict[str, Buffer]) -> dict[str, Array]:
    """Allocate arrays, each at another quarter of a page than the one before.

    A load waits for a store to another array if both are at the same place of a page: a star's way
    back took up to 1.4 times as long.
    """
    return {
        name: aligned(each.shape, each.dtype, PAGE, place * PAGE // 4 % PAGE)
        for place, (name, each) in enumerate(shapes.items())
    }


@dataclass(frozen=True)
class Arrangement:
    """How a batch of rollouts is computed, forward and back."""

    machine: Hardware
    rollouts: Rollouts
    gates: int
    """Gates that a cell evaluates in a step."""
    batch: int
    """Samples of a training step."""
    wave: int
    """Samples in flight: rolled out together before the backward pass begins."""
    sharing: Sharing
    """The requested sharing, with workers settled."""

    @classmethod
    def for_rollouts(
        cls,
        netlist: Netlist,
        grid: Grid,
        steps: int,
        batch: int,
        dtype: npt.DTypeLike = np.float32,
        sharing: Sharing = SEQUENTIAL,
    ) -> Self:
        """Plan rollouts that are all in flight at once, on the workers of `sharing`.

        Raises ValueError for sizes below one, ConfigError if the memory does not suffice.
        """
        if steps < 1 or batch < 1 or grid.cells < 1 or sharing.workers < 1:
            raise ValueError("steps, batch, cells and workers must be at least 1")
        machine = Hardware.here()
        rollouts = Rollouts(
            compile_program(netlist), netlist.channels, grid, steps, np.dtype(dtype)
        )
        plan = cls(machine, rollouts, netlist.gates, batch, batch, sharing)
        if machine.memory is not None and plan.bytes > machine.memory:
            raise ConfigError(
                f"the rollouts of {batch} samples of {grid.height}×{grid.width} cells over {steps} "
                f"steps need {show_bytes(plan.bytes)}, and {show_bytes(machine.memory)} are "
                "available: lower [task] height or width, [automaton] steps or [training] batch"
            )
        return plan

    @property
    def workers(self) -> int:
        """Threads that share the rollouts; fewer than requested if not all can have a part."""
        return self.team.workers

    @cached_property
    def tiles(self) -> list[int]:
        """Lanes of each tile of a group of samples."""
        return tile_lanes(self.rollouts.grid)

    @property
    def tiles_per_chunk(self) -> int:
        """Tiles of a chunk, which share a slot of gate sums."""
        return tiles_per_chunk(len(self.tiles))

    @cached_property
    def chunks(self) -> list[int]:
        """Lanes of each chunk of a group of samples."""
        size = self.tiles_per_chunk
        return [sum(self.tiles[i : i + size]) for i in range(0, len(self.tiles), size)]

    @property
    def layout(self) -> k.Layout:
        """Where the cells lie, and which chunks see each other."""
        return make_layout(self.rollouts.grid, waits_for_all=self.sharing.strategy == "cells")

    @property
    def samples_per_group(self) -> int:
        """Samples side by side in the same tiles: several if the grid is small."""
        return samples_per_group(self.rollouts.grid)

    @property
    def groups(self) -> int:
        """Groups of samples of a wave."""
        return -(-self.wave // self.samples_per_group)

    @property
    def waves(self) -> int:
        """Calls of the workers for a batch."""
        return -(-self.batch // self.wave)

    @property
    def team(self) -> k.Team:
        """How the workers share a wave."""
        return plan_team(self.sharing, self.groups, len(self.chunks))

    @property
    def steps_per_call(self) -> int:
        """Automaton steps of one call of the workers."""
        cells = self.samples_per_group * self.rollouts.grid.cells
        most = GATE_LANES_PER_CALL // (self.gates * cells * self.groups)
        return min(self.rollouts.steps, max(1, most))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The ways in which a wave is shared, in order; empty if one worker does everything.

        "samples" comes first if workers take whole groups. Then comes how they share the other
        groups (sharing.py).
        """
        alone = self.team.groups_alone
        if self.workers == 1:
            return ()
        samples = ("samples",) if alone else ()
        strategy = self.sharing.strategy
        rest = "steps" if strategy == "auto" else strategy
        return samples if alone == self.groups else (*samples, rest)

    @property
    def tasks(self) -> int:
        """Most pieces of work that workers can do at the same time."""
        if self.sharing.strategy == "sequential":
            return 1
        whole = self.team.groups_alone
        return max(whole, (self.groups - whole) * len(self.chunks))

    def at(self, workers: int) -> Self:
        """Return the plan for another number of workers, with the same cut and the same bits."""
        return replace(self, sharing=replace(self.sharing, workers=workers))

    @property
    def gate_lanes(self) -> int:
        """Gate evaluations of a training step's rollouts: gates · cells · steps · batch."""
        return self.gates * self.rollouts.grid.cells * self.rollouts.steps * self.batch

    @property
    def useful_workers(self) -> int:
        """Workers that have enough work in a wave to pay for waking them."""
        wave = self.gate_lanes * self.wave / self.batch
        return max(1, int(wave * SECONDS_PER_GATE / LEAST_SHARE))

    @property
    def control(self) -> Buffer:
        """The array through which workers take tasks and meet."""
        team = self.team
        places = control_places(team.workers, (self.groups - team.groups_alone) * len(self.chunks))
        return Buffer((places,), np.dtype(np.int64))

    @property
    def bytes_per_worker(self) -> int:
        """Bytes of one worker's arrays."""
        return total(self.rollouts.workspace())

    @property
    def bytes_shared(self) -> int:
        """Bytes that all workers share."""
        return total(self.rollouts.shared(self.groups, len(self.chunks))) + self.control.bytes

    @property
    def bytes(self) -> int:
        """Bytes of all buffers of rollouts."""
        return self.bytes_shared + self.workers * self.bytes_per_worker
