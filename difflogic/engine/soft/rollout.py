"""Rollouts of a soft automaton over tiles, forward and backward.

`Engine` is the driver: it owns the buffers, hands batches to its workers, and adds up gradients in
a fixed order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD, Grid, neighbors
from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.teams import ABORTED, BEGAN, BUSY, CLOCK_FIELDS, ENDED, WAITING
from difflogic.engine.kernels.training import reduce_sums, train
from difflogic.engine.soft.arrangement import Arrangement, allocate
from difflogic.engine.soft.sharing import SEQUENTIAL, Sharing
from difflogic.engine.workers import Workers
from difflogic.system.array_types import Array, Bits
from difflogic.system.arrays import aligned
from difflogic.system.work import heartbeat


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
        self.plan = plan = Arrangement.for_rollouts(netlist, grid, steps, batch, dtype, sharing)
        self.netlist = netlist
        self.grid = grid
        self.steps = steps
        self.dtype = np.dtype(dtype)
        self._layout = plan.layout
        self._samples = plan.samples_per_group
        self._setup = k.Setup(plan.team, plan.rollouts.program.code, self._layout)
        self._workers = Workers(plan.workers)
        self._workspaces = [
            k.Workspace(**allocate(plan.rollouts.workspace())) for _ in range(plan.workers)
        ]
        (self._control,) = allocate({"control": plan.control}).values()
        self._in_use = 0
        self._batch = k.Batch(
            **allocate(plan.rollouts.shared(plan.groups, len(plan.chunks))),
            loss_channels=np.empty(0, np.int64),
            loss_steps=np.array([steps], np.int64),
            losses=np.zeros((plan.groups, self._samples)),
            clock=aligned((plan.workers, CLOCK_FIELDS), np.float64),
        )

    def __enter__(self) -> Engine:
        self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._workers.__exit__(*raised)

    def forward(
        self,
        coefficients: Array,
        starts: Array,
        masks: Bits | None = None,
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
        return self._collect(self._batch.states[:, self._last_step])

    def backward(self, *loss_gradients: Array) -> Array:
        """Differentiate the last `forward`, given dL/d(states) after each of its loss steps.

        Each of `loss_gradients` has shape (batch, C, H, W). Returns dL/d(coefficients), shape
        (parameters, 4), summed over batch, cells and steps.
        """
        self.differentiate(*loss_gradients)
        return self.reduce(np.zeros((self.netlist.parameters, 4), self.dtype))

    def differentiate(self, *loss_gradients: Array) -> None:
        """Do `backward` without the sum over slots, which `reduce` does."""
        self._batch.loss_gradients[:] = 0.0
        for loss, gradients in enumerate(loss_gradients):
            self._spread(gradients, self._batch.loss_gradients[:, loss])
        self._run_backward()

    def start_gradients(self) -> Array:
        """Return dL/d(starts), shape (batch, C, H, W), of the last backward pass."""
        channels = self.netlist.channels
        height = self.grid.height
        width = self.grid.width
        shape = self._in_use, NEIGHBORHOOD, channels, height * width
        inputs = self._collect(self._batch.input_gradients[:, 0]).reshape(shape)
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
        starts: Array,
        targets: Array,
        loss_channels: Sequence[int],
        masks: Bits | None = None,
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
        self._compare(loss_channels)
        self._supervise(loss_steps)
        self._load(coefficients, starts, masks)
        batch = self._batch
        steps = self._last_step
        self._spread(targets, batch.targets)
        batch.loss_gradients[:] = 0.0
        batch.clock[:] = 0.0
        loading = time.perf_counter() - start
        if steps <= self.plan.steps_per_call:
            self._call(k.FORWARD | k.LOSS | k.BACKWARD, 0, steps)
        else:
            self._run_forward()
            self._call(k.LOSS, 0, 0)
            self._run_backward()
        means = batch.clock.mean(axis=0)
        forward, loss, backward = means[BUSY:WAITING].tolist()
        seconds = {"sample": loading, "forward": forward, "loss": loss, "backward": backward}
        seconds["waiting"] = float(means[WAITING:BEGAN].sum())
        return batch.losses.ravel()[: self._in_use].tolist(), seconds

    def reduce(self, total: Array) -> Array:
        """Add the slots to `total` (parameters, 4), in the order of samples and cells."""
        reduce_sums(self._batch.sums, total.reshape(-1))
        return total

    def slots(self) -> Array:
        """Return the gradients before `reduce` adds them up, shape (slots, parameters, 4).

        Each group of samples has its slots, in the order of its tiles.
        """
        return self._batch.sums.reshape(-1, self.netlist.parameters, 4).copy()

    def states(self, steps: Sequence[int] | None = None) -> Array:
        """Return the last `forward`'s states at all steps, or at some: (batch, steps, C, H, W)."""
        kept = range(self.steps + 1) if steps is None else steps
        return np.stack([self._collect(self._batch.states[:, t]) for t in kept], axis=1)

    @property
    def _last_step(self) -> int:
        return int(self._batch.loss_steps[-1])

    def _supervise(self, loss_steps: Sequence[int]) -> None:
        self._batch = self._batch._replace(
            loss_steps=np.array(loss_steps or [self.steps], np.int64)
        )
        groups, losses, channels, length = self._batch.loss_gradients.shape
        if losses != len(self._batch.loss_steps):
            shape = groups, len(self._batch.loss_steps), channels, length
            self._batch = self._batch._replace(loss_gradients=aligned(shape, self.dtype))

    def _compare(self, channels: Sequence[int]) -> None:
        if list(channels) != self._batch.loss_channels.tolist():
            groups, _, length = self._batch.targets.shape
            self._batch = self._batch._replace(
                loss_channels=np.array(channels, np.int64),
                targets=aligned((groups, len(channels), length), self.dtype),
            )

    def _load(self, coefficients: Array, starts: Array, masks: Bits | None) -> None:
        self._batch.coefficients[:] = coefficients.ravel()
        self._in_use = len(starts)
        self._spread(starts, self._batch.states[:, 0])
        groups, steps, kept = self._batch.masks.shape
        per_mask = 0 if masks is None else self._layout.cells
        if kept != per_mask:
            empty = np.zeros((groups, steps, per_mask), np.uint8)
            self._batch = self._batch._replace(masks=empty)
        if masks is not None:
            for mask, (group, cells) in zip(masks, self._places(), strict=True):
                self._batch.masks[group, : len(mask), cells] = mask.reshape(len(mask), -1)

    def _run_forward(self) -> None:
        """Roll out to the last loss step; a heartbeat before each call of the workers."""
        steps = self._last_step
        at_once = self.plan.steps_per_call
        for first in range(0, steps, at_once):
            heartbeat("rollout", first, steps)
            self._call(k.FORWARD, first, min(first + at_once, steps))

    def _run_backward(self) -> None:
        steps = self._last_step
        at_once = self.plan.steps_per_call
        for end in range(steps, 0, -at_once):
            heartbeat("gradient", steps - end, steps)
            self._call(k.BACKWARD, max(0, end - at_once), end)

    def _call(self, parts: int, first: int, end: int) -> None:
        """Do `parts` of a training step, from step `first` to before step `end`.

        Adds the seconds that workers waited to the batch's clock.
        """
        clock = self._batch.clock
        self._control[:] = 0
        span = k.Span(parts, first, end, self._in_use)
        task = k.Call(self._setup, self._batch, span, self._control)
        try:
            self._workers.run(
                train, [(worker, task, space) for worker, space in enumerate(self._workspaces)]
            )
        except BaseException:
            # Ctrl-C came before all workers had started: nobody must wait for a missing one.
            self._control[ABORTED] = 1
            raise
        began = clock[:, BEGAN]
        ended = clock[:, ENDED]
        # A worker also waits before it wakes and after it is done, while others work.
        clock[:, WAITING + (parts & -parts).bit_length() - 1] += began - began.min()
        clock[:, WAITING + parts.bit_length() - 1] += ended.max() - ended

    def _places(self) -> Iterator[tuple[int, slice]]:
        """Yield the group of each sample in use, and its cells within the group."""
        cells = self.grid.cells
        for sample in range(self._in_use):
            group, place = divmod(sample, self._samples)
            yield group, slice(place * cells, (place + 1) * cells)

    def _spread(self, batch: Array, states: Array) -> None:
        """Copy (samples, n, H, W) into (groups, n, length)."""
        inside = states[:, :, self._layout.lead :]
        for sample, (group, cells) in zip(batch, self._places(), strict=True):
            inside[group, :, cells] = sample.reshape(len(sample), -1)

    def _collect(self, states: Array) -> Array:
        """Copy (groups, n, length) into (samples, n, H, W)."""
        inside = states[:, :, self._layout.lead :]
        found = [inside[group, :, cells] for group, cells in self._places()]
        shape = (-1, states.shape[1], self.grid.height, self.grid.width)
        return np.array(found, self.dtype).reshape(shape)


def add_slots(slots: Array, total: Array) -> None:
    """Add `slots` (slots, parameters, 4), as returned by `Engine.slots`, to `total` in order."""
    reduce_sums(slots.reshape(1, len(slots), -1), total.reshape(-1))
