"""Rollouts of a soft automaton over tiles, forward and backward.

`Engine` is the driver: it owns the buffers, runs the compiled kernels on its workers, and adds up
gradients in a fixed order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD, neighbors
from difflogic.circuit.netlist import Netlist
from difflogic.engine.arrangement import Arrangement, Shape
from difflogic.engine.compilation import training_kernel
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.teams import (
    ABORTED,
    BEGAN,
    BUSY,
    CLOCK_FIELDS,
    ENDED,
    MEETING,
    TRACE_FIELDS,
    TRACED,
    WAITING,
)
from difflogic.engine.kernels.training import reduce_sums, train_by_gates
from difflogic.engine.layout import Grid
from difflogic.engine.sharing import SEQUENTIAL, Sharing
from difflogic.engine.split import split_program
from difflogic.engine.tracing import Tracer, WorkStats
from difflogic.engine.workers import Workers
from difflogic.system.arrays import aligned
from difflogic.system.callbacks import pause

Array = npt.NDArray[np.floating]


class Engine:
    """Runs a netlist on a batch of grids for some steps, and differentiates it.

    A context manager: the workers' threads live as long as the context.
    """

    def __init__(
        self,
        netlist: Netlist,
        grid: Grid,
        steps: int,
        batch: int,
        dtype: npt.DTypeLike = np.float32,
        sharing: Sharing = SEQUENTIAL,
    ) -> None:
        """Raises ValueError for sizes below one, ConfigError if the memory does not suffice."""
        self.plan = Arrangement.for_rollouts(netlist, grid, steps, batch, dtype, sharing)
        self.netlist, self.grid = netlist, grid
        self.steps, self.batch, self.dtype = steps, batch, np.dtype(dtype)
        self.layout = self.plan.layout
        self.team = self.plan.team
        self._samples, self._groups = self.plan.samples_per_group, self.plan.groups
        self._steps_per_call = self.plan.steps_per_call
        self._workers = Workers(self.plan.workers)
        self._kernel = training_kernel(sharing.strategy, self.plan.workers)
        self._tracer: Tracer | None = None
        self._in_use = self._created = 0
        self._loss_channels: tuple[int, ...] | None = None
        self._allocate()

    def _allocate(self) -> None:
        rollouts = self.plan.rollouts
        shapes = rollouts.shared(self._groups, self.plan.slots)
        self._states = _make(shapes["states"])
        self._input_gradients = _make(shapes["input_gradients"])
        self._sums = _make(shapes["sums"])
        self._masks = _make(shapes["masks"])
        self._coefficients = _make(shapes["coefficients"])
        self._loss_steps = np.array([self.steps], np.int64)
        self._set_losses(1)
        self._set_loss_channels(())
        self._losses = np.zeros((self._groups, self._samples))
        self._clock = aligned((self.plan.workers, CLOCK_FIELDS), np.float64)
        self._control = _make(self.plan.control)
        self._problem = k.Problem(self.team, rollouts.program.code, self.layout)
        # Workers that share a tile use the buffers of their first one.
        parts, splits = self.plan.parts, self._kernel is train_by_gates
        self._workspaces = [
            workspace(rollouts.workspace(splits, leads=worker % parts == 0))
            for worker in range(self.plan.workers)
        ]
        self._split = split_program(self.netlist, parts) if splits else None

    def __enter__(self) -> Engine:
        self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._workers.__exit__(*raised)

    def forward(
        self,
        coefficients: Array,
        starts: npt.NDArray[Any],
        masks: npt.NDArray[np.uint8] | None = None,
        loss_steps: Sequence[int] = (),
    ) -> Array:
        """Roll out a batch. Returns the last states, shape (batch, C, H, W).

        `coefficients` is (parameters, 4), `starts` (batch, C, H, W). `masks` (batch, steps, H, W),
        for asynchronous automata, is 1 where a cell takes its new state. The batch may be smaller
        than the engine's. The rollout ends after the last of `loss_steps`, ascending from 1, or by
        default after the engine's last step; `masks` may end there too.
        """
        self._supervise(loss_steps)
        self._load(coefficients, starts, masks)
        self._run_forward()
        return self._collect(self._states[:, self._loss_steps[-1]])

    def backward(self, *loss_gradients: Array) -> Array:
        """Differentiate the last `forward`, given dL/d(states) after each of its loss steps.

        Each of `loss_gradients` has shape (batch, C, H, W). Returns dL/d(coefficients), shape
        (parameters, 4), summed over batch, cells and steps.
        """
        self.differentiate(*loss_gradients)
        return self.reduce(np.zeros((self.netlist.parameters, 4), self.dtype))

    def differentiate(self, *loss_gradients: Array) -> None:
        """Do `backward` without the sum over slots, which `reduce` does."""
        self._loss_gradients[:] = 0.0
        for loss, gradients in enumerate(loss_gradients):
            self._spread(gradients, self._loss_gradients[:, loss])
        self._run_backward()

    def start_gradients(self) -> Array:
        """Return dL/d(starts), shape (batch, C, H, W), of the last backward pass."""
        channels, height, width = self.netlist.channels, self.grid.height, self.grid.width
        shape = self._in_use, NEIGHBORHOOD, channels, height * width
        inputs = self._collect(self._input_gradients[:, 0]).reshape(shape)
        # The index OUTSIDE (-1) reads the last column, which is zero.
        inputs = np.concatenate([inputs, np.zeros((*shape[:3], 1), self.dtype)], axis=3)
        total = np.zeros((self._in_use, channels, height * width), self.dtype)
        # The neighbour at one place sees the cell from the opposite place.
        for place, cells in enumerate(neighbors(height, width, self.grid.boundary)):
            total += inputs[:, NEIGHBORHOOD - 1 - place, :, cells].transpose(1, 2, 0)
        return total.reshape(self._in_use, channels, height, width)

    def run_training(
        self,
        coefficients: Array,
        starts: npt.NDArray[Any],
        targets: npt.NDArray[Any],
        loss_channels: Sequence[int],
        masks: npt.NDArray[np.uint8] | None = None,
        loss_steps: Sequence[int] = (),
    ) -> tuple[list[float], dict[str, float]]:
        """Do `forward`, the loss and `differentiate` in one parallel call; then call `reduce`.

        One call saves waking the workers again. `targets` is (batch, loss channels, H, W). The
        loss is the sum of squared errors after each of `loss_steps`, ascending, by default after
        the engine's last step. Returns each sample's loss, and seconds by phase as means over the
        workers: busy with "forward", "loss" and "backward", and "waiting" for each other or for a
        core. Handing over the batch counts as "sample"; waking the workers is no phase.
        """
        start = time.perf_counter()
        self._set_loss_channels(loss_channels)
        self._supervise(loss_steps)
        self._load(coefficients, starts, masks)
        self._spread(targets, self._targets)
        self._loss_gradients[:] = 0.0
        self._clock[:] = 0.0
        loading = time.perf_counter() - start
        steps = int(self._loss_steps[-1])
        if steps <= self._steps_per_call:
            self._call(k.FORWARD | k.LOSS | k.BACKWARD, 0, steps)
        else:
            self._run_forward()
            self._call(k.LOSS, 0, 0)
            self._run_backward()
        means = self._clock.mean(axis=0)
        forward, loss, backward = means[BUSY:WAITING].tolist()
        seconds = {"sample": loading, "forward": forward, "loss": loss, "backward": backward}
        seconds["waiting"] = float(means[WAITING:BEGAN].sum())
        return self._losses.ravel()[: self._in_use].tolist(), seconds

    def reduce(self, total: Array) -> Array:
        """Add the slots to `total` (parameters, 4), in the order of samples and cells."""
        reduce_sums(self._sums, total.reshape(-1))
        return total

    def slots(self) -> Array:
        """Return the gradients before `reduce` adds them up, shape (slots, parameters, 4).

        Each group of samples has its slots, in the order of its tiles.
        """
        return self._sums.reshape(-1, self.netlist.parameters, 4).copy()

    def states(self, steps: Sequence[int] | None = None) -> Array:
        """Return the last `forward`'s states at all steps, or at some: (batch, steps, C, H, W)."""
        kept = range(self.steps + 1) if steps is None else steps
        return np.stack([self._collect(self._states[:, t]) for t in kept], axis=1)

    def _supervise(self, loss_steps: Sequence[int]) -> None:
        self._loss_steps = np.array(loss_steps or [self.steps], np.int64)
        if self._loss_gradients.shape[1] != len(self._loss_steps):
            self._set_losses(len(self._loss_steps))

    def _set_losses(self, losses: int) -> None:
        groups, _, channels, length = self._states.shape
        self._loss_gradients = aligned((groups, losses, channels, length), self.dtype)

    def _set_loss_channels(self, channels: Sequence[int]) -> None:
        if tuple(channels) != self._loss_channels:
            self._loss_channels = tuple(channels)
            shape = (self._groups, len(channels), self._states.shape[3])
            self._targets = aligned(shape, self.dtype)

    def _load(
        self, coefficients: Array, starts: npt.NDArray[Any], masks: npt.NDArray[np.uint8] | None
    ) -> None:
        self._coefficients[:] = coefficients.ravel()
        self._in_use = len(starts)
        self._spread(starts, self._states[:, 0])
        per_mask = 0 if masks is None else self.layout.cells
        if self._masks.shape[2] != per_mask:
            self._masks = np.zeros((self._groups, self.steps, per_mask), dtype=np.uint8)
        if masks is not None:
            for mask, (group, cells) in zip(masks, self._places(), strict=True):
                self._masks[group, : len(mask), cells] = mask.reshape(len(mask), -1)

    def _run_forward(self) -> None:
        """Roll out to the last loss step; pause before each call of the workers."""
        steps = int(self._loss_steps[-1])
        for first in range(0, steps, self._steps_per_call):
            pause("rollout", first, steps)
            self._call(k.FORWARD, first, min(first + self._steps_per_call, steps))

    def _run_backward(self) -> None:
        steps = int(self._loss_steps[-1])
        for end in range(steps, 0, -self._steps_per_call):
            pause("gradient", steps - end, steps)
            self._call(k.BACKWARD, max(0, end - self._steps_per_call), end)

    def _batch(self) -> k.Batch:
        return k.Batch(
            coefficients=self._coefficients,
            states=self._states,
            masks=self._masks,
            targets=self._targets,
            loss_channels=np.array(self._loss_channels or (), dtype=np.int64),
            loss_steps=self._loss_steps,
            losses=self._losses,
            loss_gradients=self._loss_gradients,
            input_gradients=self._input_gradients,
            sums=self._sums,
            clock=self._clock,
        )

    def _call(self, parts: int, first: int, end: int) -> None:
        """Run the `parts` of the kernel on all workers, from step `first` to before step `end`."""
        self._control[:] = 0
        shared = (
            self._problem,
            self._batch(),
            k.Span(parts, first, end, self._in_use),
            self._control,
        )
        calls: list[tuple[Any, ...]]
        calls = [(worker, *shared, space) for worker, space in enumerate(self._workspaces)]
        if self._split is not None:
            calls = [(*call, self._seat(worker, self._split)) for worker, call in enumerate(calls)]
        try:
            self._workers.run(self._kernel, calls)
        except BaseException:
            # Ctrl-C came before all workers had started: nobody must wait for a missing one.
            self._control[ABORTED] = 1
            raise
        ways = (parts & k.FORWARD != 0) + (parts & k.BACKWARD != 0)
        whole, chunks = self.team.groups_alone, len(self.layout.chunk_start) - 1
        self._created += ways * (whole + (self._groups - whole) * chunks * (end - first))
        clock = self._clock
        began, ended = clock[:, BEGAN], clock[:, ENDED]
        # A worker also waits before it wakes and after it is done, while others work.
        clock[:, WAITING + (parts & -parts).bit_length() - 1] += began - began.min()
        clock[:, WAITING + parts.bit_length() - 1] += ended.max() - ended
        if self._tracer is not None:
            self._collect_trace(self._tracer)

    def _seat(self, worker: int, split: k.SplitCode) -> k.Seat:
        team, part = divmod(worker, split.parts)
        place = len(self._control) - MEETING * (self.team.workers - team)
        leader = self._workspaces[team * split.parts]
        return k.Seat(part, split, leader, self._control, place)

    def trace(self, tracer: Tracer | None) -> None:
        """Record the workers' tasks in `tracer` from now on; None stops it."""
        self._tracer = tracer
        # A worker may do all pieces of a call and the loss; the call itself takes a row too.
        pieces = 2 * self._groups * (len(self.layout.chunk_start) - 1) * self._steps_per_call
        shape = (0 if tracer is None else pieces + 2, TRACE_FIELDS)
        self._workspaces = [space._replace(trace=np.zeros(shape)) for space in self._workspaces]

    def _collect_trace(self, tracer: Tracer) -> None:
        traces = []
        for space in self._workspaces:
            traces.append(space.trace[: space.cursor[TRACED]].copy())
            space.cursor[TRACED] = 0
            space.trace[:] = 0.0
        tracer.add_call(traces)
        if tracer.full:
            self.trace(None)

    @property
    def work(self) -> WorkStats:
        """What all workers have done since the engine was created."""
        each = (WorkStats.of(space.cursor) for space in self._workspaces)
        return sum(each, WorkStats(created=self._created))

    def _places(self) -> Iterator[tuple[int, slice]]:
        """Yield the group of each sample in use, and its cells within the group."""
        cells = self.grid.cells
        for sample in range(self._in_use):
            group, place = divmod(sample, self._samples)
            yield group, slice(place * cells, (place + 1) * cells)

    def _spread(self, batch: npt.NDArray[Any], states: Array) -> None:
        """Copy (samples, n, H, W) into (groups, n, length)."""
        inside = states[:, :, self.layout.lead :]
        for sample, (group, cells) in zip(batch, self._places(), strict=True):
            inside[group, :, cells] = sample.reshape(len(sample), -1)

    def _collect(self, states: Array) -> Array:
        """Copy (groups, n, length) into (samples, n, H, W)."""
        inside = states[:, :, self.layout.lead :]
        found = [inside[group, :, cells] for group, cells in self._places()]
        shape = (-1, states.shape[1], self.grid.height, self.grid.width)
        return np.array(found, self.dtype).reshape(shape)


def add_slots(slots: Array, total: Array) -> None:
    """Add `slots` (slots, parameters, 4), as returned by `Engine.slots`, to `total` in order."""
    reduce_sums(slots.reshape(1, len(slots), -1), total.reshape(-1))


def workspace(shapes: dict[str, Shape]) -> k.Workspace:
    """Allocate one worker's buffers."""
    return k.Workspace(**{name: _make(shape) for name, shape in shapes.items()})


def _make(shape: Shape) -> npt.NDArray[Any]:
    return aligned(shape.shape, shape.dtype)
