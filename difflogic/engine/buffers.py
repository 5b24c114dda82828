"""The buffers of an engine: what it allocates is what a plan counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.pipeline import control_places
from difflogic.engine.kernels.teams import CURSOR_FIELDS, MEETING, TRACE_FIELDS
from difflogic.engine.layout import Grid, samples_per_group, stride
from difflogic.engine.program import Program
from difflogic.engine.sharing import Strategy
from difflogic.system.arrays import CACHE_LINE


@dataclass(frozen=True)
class Shape:
    """An array that is to be allocated."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def bytes(self) -> int:
        """With what it takes to begin at a cache line."""
        return prod(self.shape) * self.dtype.itemsize + CACHE_LINE


@dataclass(frozen=True)
class Rollouts:
    """What an engine runs: rollouts of a circuit for some steps, each with a way back."""

    program: Program
    channels: int
    grid: Grid
    steps: int
    dtype: np.dtype
    losses: int = 1
    """Steps of a rollout after which the state is compared with the target, at most."""
    loss_channels: int = 0
    masked: bool = False
    """Whether cells are masked, as those of an asynchronous automaton."""

    def shared(self, groups: int, chunks: int) -> dict[str, Shape]:
        """Return what all workers share while `groups` of samples are in flight."""
        channels, length = self.channels, stride(self.grid)
        samples = samples_per_group(self.grid)
        kept = samples * self.grid.cells if self.masked else 0
        parameters = self.program.parameters * 4
        return {
            "states": Shape((groups, self.steps + 1, channels, length), self.dtype),
            "input_gradients": Shape((groups, k.RING, NEIGHBORHOOD * channels, length), self.dtype),
            "loss_gradients": Shape((groups, self.losses, channels, length), self.dtype),
            "targets": Shape((groups, self.loss_channels, length), self.dtype),
            "sums": Shape((groups, chunks, parameters), self.dtype),
            "masks": Shape((groups, self.steps, kept), np.dtype(np.uint8)),
            "coefficients": Shape((parameters,), self.dtype),
        }

    def workspace(self, splits: bool = False, leads: bool = True) -> dict[str, Shape]:
        """Return one worker's buffers: a tile of values, one of gradients, and little else.

        Where workers share a tile's gates (`splits`), no row is used twice, and those of the one
        that leads are all they need.
        """
        program, lanes = self.program, k.MAX_LANES * leads
        values = max(program.forward_rows, program.backward_rows)
        gradients = program.gradient_rows
        if splits:
            values = gradients = program.rows
        return {
            "values": Shape((values * lanes,), self.dtype),
            "gradients": Shape((gradients * lanes,), self.dtype),
            "kept": Shape((self.channels * lanes,), self.dtype),
            "scratch": Shape((k.SCRATCH,), self.dtype),
            "cursor": Shape((CURSOR_FIELDS,), np.dtype(np.int64)),
            "trace": Shape((0, TRACE_FIELDS), np.dtype(np.float64)),
        }

    def bytes_shared(self, groups: int, chunks: int) -> int:
        """Bytes of `shared`."""
        return total(self.shared(groups, chunks))

    def bytes_per_worker(self, parts: int = 1, splits: bool = False) -> int:
        """Bytes of `workspace`, as a mean of the `parts` workers that share a tile."""
        others = total(self.workspace(splits, leads=False))
        return -(-(total(self.workspace(splits)) + (parts - 1) * others) // parts)


def total(shapes: dict[str, Shape]) -> int:
    """Return the bytes of several arrays."""
    return sum(each.bytes for each in shapes.values())


def control_shape(strategy: Strategy, team: k.Team, groups: int, chunks: int) -> Shape:
    """Return where workers take pieces of work and meet."""
    places = control_places(team.workers, (groups - team.whole) * chunks)
    if strategy == "gates":
        places += MEETING * team.workers  # each team meets at a place of its own
    return Shape((places,), np.dtype(np.int64))
