"""How a batch of rollouts is cut into pieces, and shared by workers.

How the cells are *cut* (lanes, chunks) sets the order in which gradients are added, and follows
from the problem and the processor alone. How the pieces are *shared* (workers, strategies, samples
in flight) changes no bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.engine.buffers import Rollouts, Shape, control_shape
from difflogic.engine.hardware import Machine
from difflogic.engine.kernels.structures import Team
from difflogic.engine.layout import (
    Grid,
    automatic_chunk,
    automatic_lanes,
    samples_per_group,
    tile_lanes,
)
from difflogic.engine.program import compile_program
from difflogic.engine.schedule import ceiling
from difflogic.engine.sharing import SEQUENTIAL, Sharing, parts_of, plan_team
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import show_bytes

GATE_LANES_PER_CALL = 2 * 10**8
"""Gates times cells that workers evaluate in one call, about: some tenths of a second on one slow
core. A rollout of more is cut into spans of steps, between which it can be stopped."""


@dataclass(frozen=True)
class Arrangement:
    """How a batch of rollouts and the way back are done."""

    machine: Machine
    rollouts: Rollouts
    gates: int
    """Gates that a cell evaluates in a step."""
    batch: int
    """Samples of a training step."""
    wave: int
    """Samples in flight: rolled out before the first one's backward pass."""
    sharing: Sharing
    """What was asked for, with workers, lanes and chunk settled."""

    @classmethod
    def for_rollouts(
        cls,
        netlist: Netlist,
        grid: Grid,
        steps: int,
        batch: int,
        dtype: npt.DTypeLike = np.float32,
        sharing: Sharing = SEQUENTIAL,
        machine: Machine | None = None,
    ) -> Self:
        """Plan for rollouts that are all in flight at once, on as many workers as `sharing` says.

        Raises ValueError for sizes below one, ConfigError if the memory cannot suffice.
        """
        if steps < 1 or batch < 1 or grid.cells < 1 or sharing.workers < 1:
            raise ValueError("steps, batch, cells and workers must be at least 1")
        machine = machine or Machine.here()
        rollouts = Rollouts(
            compile_program(netlist), netlist.channels, grid, steps, np.dtype(dtype)
        )
        plan = cls(
            machine, rollouts, netlist.gates, batch, batch, settle(sharing, rollouts, machine)
        )
        if machine.memory is not None and plan.bytes > machine.memory:
            raise ConfigError(
                f"the rollouts of {batch} samples of {grid.height}×{grid.width} cells over {steps} "
                f"steps need {show_bytes(plan.bytes)}, and {show_bytes(machine.memory)} are "
                "available: lower [task] height or width, [automaton] steps or [training] batch"
            )
        return plan

    @property
    def workers(self) -> int:
        """Threads that share the rollouts: fewer than asked for where not all can have a part."""
        return self.team.workers * self.parts

    @property
    def parts(self) -> int:
        """Workers that share a tile's gates."""
        return parts_of(self.sharing, self.groups * len(self.chunks))

    @property
    def lanes(self) -> int:
        """Cells of the widest tile."""
        assert self.sharing.lanes is not None
        return self.sharing.lanes

    @cached_property
    def tiles(self) -> list[int]:
        """Lanes of each tile of a group of samples."""
        return tile_lanes(self.rollouts.grid, self.lanes)

    @property
    def chunk(self) -> int:
        """Tiles that a worker takes at a time."""
        assert self.sharing.chunk is not None
        return self.sharing.chunk

    @cached_property
    def chunks(self) -> list[int]:
        """Lanes of each chunk of a group of samples."""
        return [sum(self.tiles[i : i + self.chunk]) for i in range(0, len(self.tiles), self.chunk)]

    @property
    def samples_per_group(self) -> int:
        """Samples that lie side by side in the same tiles: several if the grid is small."""
        return samples_per_group(self.rollouts.grid)

    @property
    def groups(self) -> int:
        """Groups of samples of a wave."""
        return -(-self.wave // self.samples_per_group)

    @property
    def waves(self) -> int:
        """How often workers are called for a batch."""
        return -(-self.batch // self.wave)

    @property
    def team(self) -> Team:
        """How the workers share a wave; those that share a tile count as one."""
        teams = replace(self.sharing, workers=self.sharing.workers // self.parts)
        return plan_team(teams, self.groups, len(self.chunks))

    @property
    def steps_per_call(self) -> int:
        """Automaton steps of one call of the workers."""
        cells = self.samples_per_group * self.rollouts.grid.cells
        most = GATE_LANES_PER_CALL // (self.gates * cells * self.groups)
        return min(self.rollouts.steps, max(1, most))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The ways to share that a wave is done by; none if one worker does it all.

        First "samples", as far as workers take whole groups of them; then how they share the
        others: "cells" or "steps" (sharing.py).
        """
        team = self.team
        if self.workers == 1:
            return ()
        samples = ("samples",) if team.whole and team.workers > 1 else ()
        if self.sharing.strategy == "gates":
            steps = ("steps",) if team.whole < self.groups and team.workers > 1 else ()
            return (*samples, *steps, "gates")
        return samples if team.whole == self.groups else (*samples, self.sharing.strategy)

    @property
    def tasks(self) -> int:
        """Pieces of work that workers can do at the same time, at most."""
        if self.sharing.strategy == "sequential":
            return 1
        whole = self.team.whole
        return max(whole, (self.groups - whole) * len(self.chunks)) * self.parts

    def at(self, workers: int) -> Self:
        """Return the same for another number of workers; the cut, and all bits, stay."""
        return replace(self, sharing=replace(self.sharing, workers=workers))

    def ceiling(self, workers: int | None = None) -> float:
        """Return the speed-up that `workers` could reach, if nothing cost anything but tasks."""
        plan = self if workers is None else self.at(workers)
        return ceiling(plan.team, plan.groups, plan.rollouts.steps, plan.chunks) * plan.parts

    @property
    def gate_lanes(self) -> int:
        """Gate evaluations of a training step's rollouts: gates · cells · steps · batch."""
        return self.gates * self.rollouts.grid.cells * self.rollouts.steps * self.batch

    @property
    def control(self) -> Shape:
        """Where workers meet and take tasks."""
        return control_shape(self.sharing.strategy, self.team, self.groups, len(self.chunks))

    @property
    def bytes_per_worker(self) -> int:
        """Bytes of one worker's buffers."""
        splits = self.sharing.strategy == "gates" and self.workers > 1
        return self.rollouts.bytes_per_worker(self.parts, splits)

    @property
    def bytes_shared(self) -> int:
        """Bytes that all workers share."""
        return self.rollouts.bytes_shared(self.groups, len(self.chunks)) + self.control.bytes

    @property
    def bytes(self) -> int:
        """Bytes of all buffers of rollouts."""
        return self.bytes_shared + self.workers * self.bytes_per_worker


def settle(sharing: Sharing, rollouts: Rollouts, machine: Machine) -> Sharing:
    """Return `sharing` with lanes and chunk decided: by the problem and processor, not workers."""
    rows = rollouts.program.backward_rows + rollouts.program.gradient_rows
    lanes = sharing.lanes or automatic_lanes(rollouts.grid, rows, rollouts.dtype.itemsize, machine)
    chunk = sharing.chunk or automatic_chunk(len(tile_lanes(rollouts.grid, lanes)))
    return replace(sharing, lanes=lanes, chunk=chunk)
